#include "trees/conllu.hh"
