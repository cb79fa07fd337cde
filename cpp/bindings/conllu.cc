// Bindings of cpp/trees/conllu.hh: sentences become tuples of columns. The global lock is held throughout: nearly all
// the time goes into making Python strings, which needs it.
#include "trees/conllu.hh"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

namespace nb = nanobind;
namespace conllu = treeglot::conllu;

namespace {

nb::object make_string(std::string_view text) {
  PyObject* string = PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
  if (string == nullptr) nb::raise_python_error();
  return nb::steal(string);
}

// Keeps recently seen strings so that equal values share one object. One slot per hash: a newcomer takes the place of
// what was there, so memory stays bounded however many different words a file has.
class StringCache {
 public:
  explicit StringCache(std::size_t bits)
      : slots_(static_cast<Slot*>(std::calloc(std::size_t{1} << bits, sizeof(Slot)))),
        shift_(64 - bits),
        unset_(make_string("_")) {
    if (!slots_) throw std::bad_alloc();
  }
  ~StringCache() {
    for (Slot* slot : used_) Py_DECREF(slot->value);
  }
  StringCache(const StringCache&) = delete;
  StringCache& operator=(const StringCache&) = delete;

  // A new reference.
  PyObject* get(std::string_view text) {
    if (text == "_") return nb::object(unset_).release().ptr();
    if (text.size() > kLongest) return make_string(text).release().ptr();
    Slot& slot = slots_.get()[hash(text) >> shift_];
    if (slot.value == nullptr || std::string_view(slot.key, slot.size) != text) {
      PyObject* string = make_string(text).release().ptr();
      if (slot.value == nullptr) {
        used_.push_back(&slot);
      } else {
        Py_DECREF(slot.value);
      }
      slot.value = string;
      slot.size = static_cast<unsigned char>(text.size());
      std::memcpy(slot.key, text.data(), text.size());
    }
    Py_INCREF(slot.value);
    return slot.value;
  }

 private:
  static constexpr std::size_t kLongest = 55;

  struct Slot {  // one cache line; calloc gives the untouched ones for free
    PyObject* value;
    unsigned char size;
    char key[kLongest];
  };
  static_assert(sizeof(Slot) == 64);

  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };

  template <typename Word>
  static std::uint64_t load(const char* data) {
    Word word;
    std::memcpy(&word, data, sizeof word);
    return word;
  }

  // Whole words only, the last one overlapping: copying a few single bytes would be slower than all the rest.
  static std::uint64_t hash(std::string_view text) {
    std::uint64_t value = text.size();
    const auto mix = [&value](std::uint64_t word) {
      value = (value ^ word) * 0x9E3779B97F4A7C15ULL;
      value ^= value >> 29;
    };
    const char* data = text.data();
    const char* const end = data + text.size();
    if (text.size() >= 8) {
      for (; data + 8 < end; data += 8) mix(load<std::uint64_t>(data));
      mix(load<std::uint64_t>(end - 8));
    } else if (text.size() >= 4) {
      mix(load<std::uint32_t>(data) << 32 | load<std::uint32_t>(end - 4));
    } else if (!text.empty()) {
      mix(load<unsigned char>(data) << 16 | load<unsigned char>(data + text.size() / 2) << 8 |
          load<unsigned char>(end - 1));
    }
    return value * 0xD6E8FEB86659FD93ULL;
  }

  std::unique_ptr<Slot, Free> slots_;
  std::vector<Slot*> used_;  // so that a reader of a short file need not walk over all slots at its end
  std::size_t shift_;
  nb::object unset_;
};

// A new tuple of what make(i) gives, new references to strings, numbers or such tuples. It cannot be part of a cycle,
// so the collector need not look at it; it would find that out by itself, but only after a visit to each.
template <typename Make>
nb::object make_flat_tuple(std::size_t size, Make&& make) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(size)));
  if (!tuple.is_valid()) nb::raise_python_error();
  for (std::size_t i = 0; i < size; ++i) {
    PyObject* item = make(i);
    if (item == nullptr || PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i), item) != 0)
      nb::raise_python_error();
  }
  PyObject_GC_UnTrack(tuple.ptr());
  return tuple;
}

class Reader {
 public:
  explicit Reader(std::size_t first_line) : scanner_(first_line), closed_(11), open_(13) {}

  void feed(nb::bytes bytes) { scanner_.feed({bytes.c_str(), bytes.size()}); }
  void finish() { scanner_.finish(); }

  // (forms, lemmas, upos, xpos, feats, deps, misc), heads, deprels, id, comments, ranges, empty nodes, ending; or None.
  nb::object next() {
    const conllu::Sentence* scanned = scanner_.next();
    if (scanned == nullptr) return nb::none();
    const conllu::Sentence& sentence = *scanned;
    const std::size_t size = sentence.words.size();
    const auto column = [&](conllu::Column which, StringCache& cache) {
      return make_flat_tuple(size,
                             [&](std::size_t j) { return cache.get(sentence.text(sentence.words[j].row[which])); });
    };
    nb::object columns =
        nb::make_tuple(column(conllu::kForm, open_), column(conllu::kLemma, open_), column(conllu::kUpos, closed_),
                       column(conllu::kXpos, closed_), column(conllu::kFeats, closed_), column(conllu::kDeps, open_),
                       column(conllu::kMisc, open_));
    nb::object heads = nb::none();
    nb::object deprels = nb::none();
    if (sentence.has_heads) {
      heads = make_flat_tuple(size, [&](std::size_t j) { return PyLong_FromLong(sentence.words[j].head); });
      deprels = column(conllu::kDeprel, closed_);
    }
    const auto row = [&](const conllu::Row& fields) {
      return make_flat_tuple(conllu::kColumns, [&](std::size_t k) { return open_.get(sentence.text(fields[k])); });
    };
    nb::object comments = make_flat_tuple(sentence.comments.size(), [&](std::size_t i) {
      return make_string(sentence.text(sentence.comments[i])).release().ptr();
    });
    nb::object ranges = make_flat_tuple(sentence.ranges.size(), [&](std::size_t i) {
      const conllu::Range& range = sentence.ranges[i];
      return nb::make_tuple(range.start, range.end, row(range.row)).release().ptr();
    });
    nb::object empty_nodes = make_flat_tuple(sentence.empty_nodes.size(), [&](std::size_t i) {
      const conllu::EmptyNode& node = sentence.empty_nodes[i];
      return nb::make_tuple(node.after, row(node.row)).release().ptr();
    });
    return nb::make_tuple(columns, heads, deprels, make_string(sentence.text(sentence.id)), comments, ranges,
                          empty_nodes, static_cast<int>(sentence.ending));
  }

 private:
  conllu::Scanner scanner_;
  StringCache closed_;  // tags, features, relations: few different values, nearly always found
  StringCache open_;    // words and what else may be new on every line
};

// An instance of `type` whose attributes `names` are `values`, made without its constructor. What the constructors of
// our immutable classes check, the scanner has checked, and in Python they would take a third of the reading time.
nb::object make_frozen(nb::type_object type, nb::tuple names, nb::tuple values) {
  const auto create = reinterpret_cast<newfunc>(PyType_GetSlot(reinterpret_cast<PyTypeObject*>(type.ptr()), Py_tp_new));
  if (create == nullptr || names.size() != values.size()) throw nb::value_error("one name for each value, please");
  const nb::tuple nothing;
  nb::object instance = nb::steal(create(reinterpret_cast<PyTypeObject*>(type.ptr()), nothing.ptr(), nullptr));
  if (!instance.is_valid()) nb::raise_python_error();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (PyObject_GenericSetAttr(instance.ptr(), nb::handle(names[i]).ptr(), nb::handle(values[i]).ptr()) != 0) {
      nb::raise_python_error();
    }
  }
  return instance;
}

}  // namespace

void bind_conllu(nb::module_& m) {
  nb::class_<Reader>(m, "Reader", "Turns pieces of CoNLL-U text into sentences.")
      .def(nb::init<std::size_t>(), nb::arg("first_line") = 1)
      .def("feed", &Reader::feed, nb::arg("data"), "Add the next piece of the file.")
      .def("finish", &Reader::finish, "Say that there is no more.")
      .def("next", &Reader::next, "The next complete sentence as tuples of columns, or None; raises ScanError.");

  m.def("make_frozen", &make_frozen, nb::arg("cls"), nb::arg("names"), nb::arg("values"),
        "An instance of an immutable class with these attributes, made without its constructor.");

  // Raised with (line, column or 0, message, remedy) as its arguments.
  PyObject* scan_error = PyErr_NewException("treeglot._core.conllu.ScanError", PyExc_ValueError, nullptr);
  if (scan_error == nullptr) nb::raise_python_error();
  m.attr("ScanError") = nb::steal(scan_error);
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const conllu::Error& error) {
          nb::object arguments =
              nb::make_tuple(error.line, error.column, make_string(error.what()), make_string(error.remedy));
          PyErr_SetObject(static_cast<PyObject*>(type), arguments.ptr());
        }
      },
      scan_error);
}
