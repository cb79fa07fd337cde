// A scanner for CoNLL-U text: finds sentences, lines and columns and checks the tree.
#pragma once
