// The one entry point of the core's unit tests; every other *_test.cc only adds cases.
#define BOOST_TEST_MODULE treeglot_core
#include <boost/test/included/unit_test.hpp>
