// Bindings of cpp/align: learning, aligning, symmetrisation. The global lock is released inside the loops.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cmath>
#include <stdexcept>

#include "align/evidence.hh"
#include "align/hmm.hh"
#include "align/model.hh"
#include "align/symmetrize.hh"
#include "align/trainer.hh"
#include "align/tree_paths.hh"
#include "bindings/in_use.hh"
#include "table/lexical_table.hh"

namespace nb = nanobind;
namespace al = treeglot::align;
using treeglot::bindings::Changing;
using treeglot::bindings::Reading;

namespace {

std::string_view view(const nb::bytes& text) { return {text.c_str(), text.size()}; }

std::vector<std::string_view> lines(std::string_view text) {
  std::vector<std::string_view> result;
  for (std::size_t position = 0; position < text.size();) {
    const std::size_t stop = std::min(text.find('\n', position), text.size());
    result.push_back(text.substr(position, stop - position));
    position = stop + 1;
  }
  return result;
}

void check_same(std::size_t source, std::size_t target) {
  if (source != target) throw nb::value_error("the sides have different numbers of lines");
}

// Raises ValueError(line, message, which): `which` numbers the argument.
[[noreturn]] void bad_line(std::size_t line, const std::string& message, int which) {
  // The message may quote bytes that are no text.
  nb::object text =
      nb::steal(PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace"));
  PyErr_SetObject(PyExc_ValueError, nb::make_tuple(line, text, which).ptr());
  throw nb::python_error();
}

al::Heuristic heuristic(int number) {
  if (number < 0 || number > static_cast<int>(al::Heuristic::kReverse)) throw nb::value_error("no such heuristic");
  return static_cast<al::Heuristic>(number);
}

}  // namespace

void bind_align(nb::module_& m) {
  m.def(
      "symmetrize",
      [](nb::bytes forward, nb::bytes reverse, int number) {
        const al::Heuristic chosen = heuristic(number);
        const auto first = lines(view(forward)), second = lines(view(reverse));
        check_same(first.size(), second.size());
        std::string out, problem;
        std::size_t n = 0;
        int which = 0;
        {
          nb::gil_scoped_release release;
          std::vector<treeglot::WordLink> there, back;
          for (; n < first.size() && problem.empty(); ++n) {
            which = 0;
            problem = al::parse_links(first[n], there);
            if (problem.empty()) {
              which = 1;
              problem = al::parse_links(second[n], back);
            }
            if (problem.empty()) {
              al::append_links(al::symmetrize(there, back, chosen), out);
              out.push_back('\n');
            }
          }
        }
        if (!problem.empty()) bad_line(n, problem, which);
        return nb::bytes(out.data(), out.size());
      },
      nb::arg("forward"), nb::arg("reverse"), nb::arg("heuristic"));

  m.def(
      "link_counts",
      [](nb::bytes source, nb::bytes target, nb::bytes links) {
        const auto first = lines(view(source)), second = lines(view(target)), third = lines(view(links));
        check_same(first.size(), second.size());
        check_same(first.size(), third.size());
        treeglot::AlignedBitext corpus;
        treeglot::LexicalTable table;
        std::vector<treeglot::LexicalTable::Item> items;
        treeglot::AlignedBitext::Problem problem;
        std::size_t n = 0;
        {
          nb::gil_scoped_release release;
          for (; n < first.size() && !problem; ++n) problem = corpus.add(first[n], second[n], third[n]);
          if (!problem) {
            corpus.finish();
            for (std::size_t k = 0; k < corpus.size(); ++k) table.count(corpus[k]);
            items = table.items();
          }
        }
        if (problem) bad_line(n, problem.message, problem.side);
        nb::list result;
        for (const auto& item : items) {
          nb::object s = nb::none(), t = nb::none();
          if (item.source != treeglot::LexicalTable::kNull) s = nb::cast(corpus.source_words.word(item.source));
          if (item.target != treeglot::LexicalTable::kNull) t = nb::cast(corpus.target_words.word(item.target));
          result.append(nb::make_tuple(s, t, item.count));
        }
        return result;
      },
      nb::arg("source"), nb::arg("target"), nb::arg("links"));

  m.def(
      "hmm_posteriors",
      [](const std::vector<std::vector<float>>& emission, const std::vector<float>& null_emission,
         const std::vector<float>& weights, float null) {
        if (emission.empty() || emission[0].empty() || null_emission.size() != emission.size() ||
            weights.size() != al::JumpTable::kSize) {
          throw nb::value_error("the sizes do not fit");
        }
        al::JumpTable jumps;
        jumps.weight = weights;
        jumps.null = null;
        std::vector<float> flat;
        for (const auto& row : emission) {
          if (row.size() != emission[0].size()) throw nb::value_error("the sizes do not fit");
          flat.insert(flat.end(), row.begin(), row.end());
        }
        std::vector<float> posterior(flat.size()), null_posterior(emission.size());
        al::JumpCounts counts;
        const double likelihood = al::HmmWorkspace().posteriors(
            flat.data(), null_emission.data(), static_cast<int>(emission.size()), static_cast<int>(emission[0].size()),
            jumps, posterior.data(), null_posterior.data(), &counts);
        return nb::make_tuple(posterior, null_posterior, likelihood, counts.taken, counts.possible);
      },
      nb::arg("emission"), nb::arg("null_emission"), nb::arg("weights"), nb::arg("null"));
  m.attr("FORMAT_VERSION") = al::kModelVersion;
  m.def(
      "tree_paths",
      [](const std::vector<std::int32_t>& heads) {
        al::check_heads(heads);
        std::vector<std::uint8_t> paths(heads.size() * heads.size());
        al::tree_paths(heads, paths.data());
        return std::vector<int>(paths.begin(), paths.end());
      },
      nb::arg("heads"));
  m.attr("JUMP_CLIP") = al::JumpTable::kClip;

  nb::class_<al::Corpus>(m, "Corpus")
      .def(nb::init<>())
      .def(
          "add",
          [](al::Corpus& self, nb::bytes source, nb::bytes target) {
            const auto first = lines(view(source)), second = lines(view(target));
            check_same(first.size(), second.size());
            const Changing use(self);
            nb::gil_scoped_release release;
            for (std::size_t n = 0; n < first.size(); ++n) self.add(first[n], second[n]);
          },
          nb::arg("source"), nb::arg("target"))
      .def("__len__", &al::Corpus::size)
      .def(
          "learn",
          [](const al::Corpus& self, const std::string& path, int model1_iterations, int hmm_iterations, double prior,
             double null_prior, double null, double agreement, double same, int max_length, double sweeps, int chains,
             double sampling_prior, double sampling_null, double fertility_prior, double bonus, double memory,
             std::uint64_t seed, int threads, nb::object report, al::Evidence* evidence, double tree) {
            al::TrainOptions options;
            options.model1_iterations = model1_iterations;
            options.hmm_iterations = hmm_iterations;
            options.prior = prior;
            options.null_prior = null_prior;
            options.null = null;
            options.agreement = agreement;
            options.same = same;
            options.max_length = max_length;
            options.sweeps = sweeps;
            options.chains = chains;
            options.sampling_prior = sampling_prior;
            options.sampling_null = sampling_null;
            options.fertility_prior = fertility_prior;
            options.bonus = bonus;
            options.memory = memory;
            options.seed = seed;
            options.threads = threads;
            if (!(tree >= 0 && tree <= 1000)) throw nb::value_error("the exponent of trees is not from 0 to 1000");
            for (const auto& [heads, starts] : {std::pair{&self.source_heads, &self.source_starts},
                                                std::pair{&self.target_heads, &self.target_starts}}) {
              if (!heads->empty() && heads->size() != starts->back())
                throw nb::value_error("there are sentences without heads: set them after the last one");
            }
            options.tree = tree;
            al::Evidence none;
            const Reading use(self);
            const Changing joined(evidence ? *evidence : none);
            nb::gil_scoped_release release;
            if (evidence) evidence->join();
            auto progress = [&](int done, int total, double likelihood) {
              nb::gil_scoped_acquire acquire;
              if (PyErr_CheckSignals() != 0) throw nb::python_error();
              if (!report.is_none()) report(done, total, likelihood);
            };
            const al::Learnt learnt = al::learn(self, options, progress, evidence ? *evidence : none);
            al::write_model(self, learnt, path);
          },
          nb::arg("path"), nb::arg("model1_iterations"), nb::arg("hmm_iterations"), nb::arg("prior"),
          nb::arg("null_prior"), nb::arg("null"), nb::arg("agreement"), nb::arg("same"), nb::arg("max_length"),
          nb::arg("sweeps"), nb::arg("chains"), nb::arg("sampling_prior"), nb::arg("sampling_null"),
          nb::arg("fertility_prior"), nb::arg("bonus"), nb::arg("memory"), nb::arg("seed"), nb::arg("threads"),
          nb::arg("report").none(), nb::arg("evidence").none() = nb::none(), nb::arg("tree") = 1.0)
      .def(
          "set_heads",
          [](al::Corpus& self, const std::vector<std::int32_t>& source, const std::vector<std::int32_t>& target) {
            auto check = [](const std::vector<std::int32_t>& heads, const std::vector<std::uint64_t>& starts) {
              if (heads.empty()) return;
              if (heads.size() != starts.back()) throw nb::value_error("not as many heads as words");
              for (std::size_t n = 0; n + 1 < starts.size(); ++n)
                al::check_heads(std::span(heads).subspan(starts[n], starts[n + 1] - starts[n]));
            };
            check(source, self.source_starts);
            check(target, self.target_starts);
            const Changing use(self);
            self.source_heads = source;
            self.target_heads = target;
          },
          nb::arg("source"), nb::arg("target"));

  nb::class_<al::Evidence>(m, "Evidence")
      .def(nb::init<>())
      .def(
          "add_pair",
          [](al::Evidence& self, al::Corpus& corpus, std::string_view source, std::string_view target, float weight) {
            const Changing use(self, corpus);
            self.pairs.push_back({corpus.source_words.id(source), corpus.target_words.id(target), weight, weight});
          },
          nb::arg("corpus"), nb::arg("source"), nb::arg("target"), nb::arg("weight"))
      .def(
          "add_links",
          [](al::Evidence& self, const al::Corpus& corpus, std::size_t pair,
             const std::vector<std::pair<int, int>>& links) {
            const Changing use(self);
            const Reading read(corpus);
            std::vector<treeglot::WordLink> checked;
            for (const auto& [source, target] : links) {
              if (source < 0 || target < 0 || source > 0xFFFF || target > 0xFFFF)
                throw nb::value_error("a link outside of its sentences");
              checked.push_back({static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(target)});
            }
            self.add_links(corpus, pair, std::move(checked));
          },
          nb::arg("corpus"), nb::arg("pair"), nb::arg("links"))
      .def(
          "add_model",
          [](al::Evidence& self, al::Corpus& corpus, const al::Model& model, float translations, float fertilities,
             float weight) {
            const Changing use(self, corpus);
            nb::gil_scoped_release release;
            self.add_model(corpus, model, {translations, fertilities}, weight);
          },
          nb::arg("corpus"), nb::arg("model"), nb::arg("translations"), nb::arg("fertilities"), nb::arg("weight"));

  nb::class_<al::Model>(m, "Model")
      .def(nb::init<const std::string&, bool>(), nb::arg("path"), nb::arg("verify") = true)
      .def(
          "align",
          [](const al::Model& self, nb::bytes source, nb::bytes target, int threads) {
            const auto first = lines(view(source)), second = lines(view(target));
            check_same(first.size(), second.size());
            std::string forward, reverse;
            std::size_t bad = 0;
            {
              nb::gil_scoped_release release;
              bad = self.align(first, second, threads, forward, reverse);
            }
            if (bad != 0) bad_line(bad, "a sentence of more than 65,535 words", 0);
            return nb::make_tuple(nb::bytes(forward.data(), forward.size()), nb::bytes(reverse.data(), reverse.size()));
          },
          nb::arg("source"), nb::arg("target"), nb::arg("threads"))
      .def(
          "link_chances",
          [](const al::Model& self, nb::bytes source, nb::bytes target, float least, int threads) {
            if (std::isnan(least)) throw nb::value_error("a limit that is no number");
            const auto first = lines(view(source)), second = lines(view(target));
            check_same(first.size(), second.size());
            std::string out;
            std::size_t bad = 0;
            {
              nb::gil_scoped_release release;
              bad = self.link_chances(first, second, threads, least, out);
            }
            if (bad != 0) bad_line(bad, "a sentence of more than 65,535 words", 0);
            return nb::bytes(out.data(), out.size());
          },
          nb::arg("source"), nb::arg("target"), nb::arg("least"), nb::arg("threads"))
      .def(
          "posteriors",
          [](const al::Model& self, std::string_view source, std::string_view target) {
            std::vector<float> forward, reverse;
            self.posteriors(source, target, forward, reverse);
            return std::make_tuple(forward, reverse);
          },
          nb::arg("source"), nb::arg("target"))
      .def(
          "entries",
          [](const al::Model& self, float threshold) {
            if (std::isnan(threshold)) throw nb::value_error("a limit that is no number");
            nb::list result;
            for (const al::Model::Entry& entry : self.entries(threshold)) {
              const std::string_view source = self.source_word(entry.source), target = self.target_word(entry.target);
              result.append(nb::make_tuple(nb::str(source.data(), source.size()), nb::str(target.data(), target.size()),
                                           entry.target_given_source, entry.source_given_target));
            }
            return result;
          },
          nb::arg("threshold"))
      .def("target_given_source", &al::Model::target_given_source, nb::arg("target"), nb::arg("source"))
      .def("source_given_target", &al::Model::source_given_target, nb::arg("source"), nb::arg("target"))
      .def_prop_ro("source_size", &al::Model::source_size)
      .def_prop_ro("target_size", &al::Model::target_size)
      .def_prop_ro("pairs", &al::Model::pairs)
      .def_prop_ro("forward_jumps", [](const al::Model& self) { return self.forward_jumps().weight; })
      .def_prop_ro("reverse_jumps", [](const al::Model& self) { return self.reverse_jumps().weight; });
}
