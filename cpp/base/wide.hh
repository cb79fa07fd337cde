// TREEGLOT_WIDE before a function: it is compiled for newer processors, too, and the one that fits is taken when the
// program starts. The same sums in the same order, only wider: results do not depend on the processor. Nothing where
// the compiler or the system cannot do it (it needs indirect functions), nor under a sanitizer, whose checks would run
// before it is ready.
#pragma once

#include <cstdlib>  // defines __GLIBC__ if this is glibc

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TREEGLOT_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TREEGLOT_SANITIZED
#endif
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__has_attribute) && !defined(TREEGLOT_SANITIZED)
#if __has_attribute(target_clones) && __has_attribute(ifunc)
#define TREEGLOT_WIDE __attribute__((target_clones("avx2", "default")))
#endif
#endif
#ifndef TREEGLOT_WIDE
#define TREEGLOT_WIDE
#endif
