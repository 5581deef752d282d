// Words of texts: tokenize, shingle_sets, fold_text and the vocabulary; and what stands out among their characters.
#include "tokens.hpp"

#include "kernels.hpp"
#include "sets_of_words.hpp"

#include <deque>
#include <stdexcept>

namespace doublet {

Texts::Texts(nb::handle sequence) {
  keep_ = nb::steal(PySequence_Tuple(sequence.ptr()));
  if (!keep_.is_valid()) throw nb::python_error();
  const Py_ssize_t count = PyTuple_GET_SIZE(keep_.ptr());
  items.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* text = PyTuple_GET_ITEM(keep_.ptr(), i);
    if (!PyUnicode_Check(text)) throw nb::type_error("every text must be a str");
    if (PyUnicode_READY(text)) throw nb::python_error();
    const size_t size = static_cast<size_t>(PyUnicode_GET_LENGTH(text));
    if (size >= (size_t{1} << 32)) throw nb::value_error("a text of 4 294 967 296 characters or more cannot be read: split it");
    items.push_back({PyUnicode_DATA(text), size, static_cast<int>(PyUnicode_KIND(text))});
  }
}

std::vector<size_t> Texts::cut(size_t parts) const {
  size_t total = 0;
  for (const Text& text : items) total += text.size + 16;
  parts = std::max<size_t>(1, std::min(parts, items.size()));
  std::vector<size_t> cuts{0};
  size_t seen = 0;
  for (size_t i = 0; i < items.size() && cuts.size() < parts; ++i) {
    seen += items[i].size + 16;
    if (seen >= total * cuts.size() / parts) cuts.push_back(i + 1);
  }
  while (cuts.size() <= parts) cuts.push_back(items.size());
  return cuts;
}

namespace {

struct Columns {
  Buffer<uint64_t> hashes;
  Buffer<uint32_t> starts, ends, ids;
  Buffer<uint8_t> fresh;  // of each id: whether the word was new
  Buffer<uint8_t> flags;
  Buffer<uint64_t> offsets;
};

template <class C> struct ColumnSink {
  Columns& out;
  const StopSet& stop;
  WordTable* table;
  const C* text;

  void push(uint64_t hash, uint32_t start, uint32_t end, uint8_t flags, const uint32_t* letters, size_t count,
            const uint32_t* = nullptr) {
    if (stop.any()) flags = static_cast<uint8_t>(flags | (stop.holds(hash) ? kFlagStop : 0));
    const size_t n = out.hashes.size;
    out.hashes[n] = hash;
    out.starts[n] = start;
    out.ends[n] = end;
    out.flags[n] = flags;
    out.hashes.size = out.starts.size = out.ends.size = out.flags.size = n + 1;
    if (!table) return;
    const size_t known = table->size();
    out.ids.push(table->id_of(hash, text, start, end, letters, count));
    out.fresh.push(table->size() > known);
  }
  bool spells() const { return table != nullptr; }
  void pop(size_t count) {
    out.hashes.size -= count;
    out.starts.size -= count;
    out.ends.size -= count;
    out.flags.size -= count;
    for (; table && count; --count) {  // letters that turned out to be one word are none of the vocabulary
      if (out.fresh[--out.fresh.size]) table->forget_last();
      --out.ids.size;
    }
  }
};

struct LetterSink {
  std::vector<uint32_t> letters, places;
  std::vector<size_t> marks;  // size before each word, to take words back
  const uint32_t* table = fold_table.entries.data();
  const Text* text = nullptr;

  uint32_t at(size_t i) const {
    switch (text->kind) {
      case 1: return static_cast<const uint8_t*>(text->data)[i];
      case 2: return static_cast<const uint16_t*>(text->data)[i];
      default: return static_cast<const uint32_t*>(text->data)[i];
    }
  }
  void push(uint64_t, uint32_t start, uint32_t end, uint8_t, const uint32_t* given, size_t count, const uint32_t* given_places = nullptr) {
    marks.push_back(letters.size());
    if (!letters.empty()) {
      letters.push_back(' ');
      places.push_back(start);
    }
    if (given) {
      letters.insert(letters.end(), given, given + count);
      places.insert(places.end(), given_places, given_places + count);
    } else {
      for (uint32_t i = start; i < end; ++i) {
        letters.push_back(table[at(i)] & kLetterMask);
        places.push_back(i);
      }
    }
  }
  bool spells() const { return true; }
  void pop(size_t count) {
    marks.resize(marks.size() - count + 1);
    letters.resize(marks.back());
    places.resize(marks.back());
    marks.pop_back();
  }
};

template <class Make> void scan(const Text& text, Make make) {
  switch (text.kind) {
    case 1: make(static_cast<const uint8_t*>(text.data)); break;
    case 2: make(static_cast<const uint16_t*>(text.data)); break;
    default: make(static_cast<const uint32_t*>(text.data)); break;
  }
}

}  // namespace

template <class C>
uint32_t WordTable::id_of(uint64_t hash, const C* text, uint32_t start, uint32_t end, const uint32_t* letters, size_t count) {
  const uint32_t id = ids_.number(hash);
  if (id < ends_.size()) return id;
  count_ = ids_.size();
  if (letters) {
    letters_.insert(letters_.end(), letters, letters + count);
  } else {
    for (uint32_t i = start; i < end; ++i) letters_.push_back(fold_table.entries[text[i]] & kLetterMask);
  }
  ends_.push_back(letters_.size());
  return id;
}

void WordTable::forget_last() {
  ids_.forget_newest();
  ends_.pop_back();
  letters_.resize(ends_.empty() ? 0 : ends_.back());
  count_ = ids_.size();
}

nb::list WordTable::words(size_t start) {
  std::vector<uint32_t> letters;
  std::vector<uint64_t> ends;  // of the words before `start` only the last
  {
    nb::gil_scoped_release release;
    std::lock_guard<std::mutex> lock(mutex_);
    start = std::min(start, ends_.size());
    const uint64_t from = start ? ends_[start - 1] : 0;
    letters.assign(letters_.begin() + static_cast<std::ptrdiff_t>(from), letters_.end());
    ends.assign(1, 0);
    for (size_t id = start; id < ends_.size(); ++id) ends.push_back(ends_[id] - from);
  }
  nb::list out;
  for (size_t id = 1; id < ends.size(); ++id) {
    nb::object word = nb::steal(PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, letters.data() + ends[id - 1],
                                                          static_cast<Py_ssize_t>(ends[id] - ends[id - 1])));
    if (!word.is_valid()) throw nb::python_error();
    out.append(word);
  }
  return out;
}

Array<uint64_t> WordTable::hashes() {
  Buffer<uint64_t> out;
  {
    nb::gil_scoped_release release;
    std::lock_guard<std::mutex> lock(mutex_);
    out.append(ids_.values().data(), ids_.size());
  }
  return own(std::move(out));
}

nb::tuple tokenize(nb::handle sequence, std::optional<View<uint64_t>> stop, WordTable* table, int64_t threads) {
  Texts texts(sequence);
  const StopSet stops(stop);
  const auto cuts = texts.cut(table ? 1 : thread_count(threads));
  std::vector<Columns> parts(cuts.size() - 1);
  {
    nb::gil_scoped_release release;
    std::unique_lock<std::mutex> lock;
    if (table) lock = std::unique_lock<std::mutex>(table->mutex());
    in_parallel(parts.size(), [&](size_t part) {
      Columns& out = parts[part];
      size_t characters = 0;
      for (size_t i = cuts[part]; i < cuts[part + 1]; ++i) characters += texts.items[i].size;
      const size_t guess = characters / 6 + 16;
      out.hashes.reserve(guess);
      out.starts.reserve(guess);
      out.ends.reserve(guess);
      out.flags.reserve(guess);
      if (table) out.ids.reserve(guess);
      if (part == 0) out.offsets.push(0);
      for (size_t i = cuts[part]; i < cuts[part + 1]; ++i) {
        make_room(out.hashes, texts.items[i].size);
        make_room(out.starts, texts.items[i].size);
        make_room(out.ends, texts.items[i].size);
        make_room(out.flags, texts.items[i].size);
        scan(texts.items[i], [&](auto* text) {
          using C = std::remove_const_t<std::remove_pointer_t<decltype(text)>>;
          ColumnSink<C> sink{out, stops, table, text};
          Scanner<C, ColumnSink<C>>(text, texts.items[i].size, sink).run();
        });
        out.offsets.push(out.hashes.size);
      }
    });
    for (size_t part = 1; part < parts.size(); ++part) {
      Columns &all = parts[0], &more = parts[part];
      const uint64_t base = all.hashes.size;
      for (size_t i = 0; i < more.offsets.size; ++i) all.offsets.push(more.offsets[i] + base);
      all.hashes.append(more.hashes.data, more.hashes.size);
      all.starts.append(more.starts.data, more.starts.size);
      all.ends.append(more.ends.data, more.ends.size);
      all.flags.append(more.flags.data, more.flags.size);
      more = Columns();
    }
  }
  Columns& all = parts[0];
  return nb::make_tuple(own(std::move(all.hashes)), own(std::move(all.starts)), own(std::move(all.ends)),
                        own(std::move(all.flags)), own(std::move(all.offsets)), own(std::move(all.ids)));
}

nb::tuple shingle_sets(nb::handle sequence, size_t size, std::optional<View<uint64_t>> stop, int64_t min_letters, int64_t threads) {
  if (!size) throw nb::value_error("a shingle has at least one word");
  Texts texts(sequence);
  const auto cuts = texts.cut(thread_count(threads));
  std::deque<SetMaker> makers;
  for (size_t part = 0; part + 1 < cuts.size(); ++part) makers.emplace_back(size, stop, min_letters);
  {
    nb::gil_scoped_release release;
    in_parallel(makers.size(), [&](size_t part) {
      size_t characters = 0;
      for (size_t i = cuts[part]; i < cuts[part + 1]; ++i) characters += texts.items[i].size;
      makers[part].reserve(characters);
      for (size_t i = cuts[part]; i < cuts[part + 1]; ++i)
        scan(texts.items[i], [&](auto* text) { makers[part].add(text, texts.items[i].size); });
    });
    for (size_t part = 1; part < makers.size(); ++part) {
      SetMaker::Result &all = makers[0].result, &more = makers[part].result;
      const uint64_t base = all.values.size;
      for (size_t i = 1; i < more.offsets.size; ++i) all.offsets.push(more.offsets[i] + base);
      all.values.append(more.values.data, more.values.size);
      all.words.append(more.words.data, more.words.size);
      all.disguised.append(more.disguised.data, more.disguised.size);
      more = SetMaker::Result();
    }
  }
  SetMaker::Result& all = makers[0].result;
  return nb::make_tuple(own(std::move(all.values)), own(std::move(all.offsets)), own(std::move(all.words)),
                        own(std::move(all.disguised)));
}

nb::tuple fold_text(nb::handle text) {
  Texts texts(nb::make_tuple(text));
  LetterSink sink;
  sink.text = &texts.items[0];
  scan(texts.items[0], [&](auto* data) {
    using C = std::remove_const_t<std::remove_pointer_t<decltype(data)>>;
    Scanner<C, LetterSink>(data, texts.items[0].size, sink).run();
  });
  nb::object folded = nb::steal(
      PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, sink.letters.data(), static_cast<Py_ssize_t>(sink.letters.size())));
  if (!folded.is_valid()) throw nb::python_error();
  Buffer<uint32_t> places;
  places.append(sink.places.data(), sink.places.size());
  return nb::make_tuple(folded, own(std::move(places)));
}

namespace {

// Blanks that no keyboard has.
bool odd_blank(uint32_t c) {
  return c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x205F || c == 0x2800 || c == 0x3000;
}

// What no character of plain prose is: neither a digit 0 to 6 nor one beyond ASCII and the Cyrillic letters.
template <class C> bool stands_out(C c) {
  const uint32_t code = c;
  return static_cast<uint32_t>(code - '0') <= 6u || (code >= 0x80 && static_cast<uint32_t>(code - 0x400) >= 0x80u);
}

bool small_letter(uint32_t c) { return (c >= 'a' && c <= 'z') || (c >= 0x430 && c <= 0x44F) || c == 0x451; }

}  // namespace

nb::tuple odd_characters(nb::handle text) {
  Texts texts(nb::make_tuple(text));
  Buffer<uint32_t> invisible, blanks, digits;
  {
    nb::gil_scoped_release release;
    scan(texts.items[0], [&](auto* data) {
      const size_t size = texts.items[0].size;
      constexpr size_t kStep = 32;
      for (size_t from = 0; from < size; from += kStep) {
        const size_t end = std::min(size, from + kStep);
        bool any = end - from < kStep;
        if (!any)
          for (size_t i = 0; i < kStep; ++i) any |= stands_out(data[from + i]);
        if (!any) continue;
        for (size_t i = from; i < end; ++i) {
          const uint32_t c = data[i];
          if (!stands_out(data[i])) continue;
          if (c < 0x80) {
            if ((c == '0' || c == '3' || c == '6') && i + 1 < size && small_letter(data[i + 1])) digits.push(static_cast<uint32_t>(i));
            continue;
          }
          const uint32_t kind = fold_table.entries[c] & (kDrop | kLetterMask);
          if (kind == (kDrop | kInvisible) || kind == (kDrop | kBreak)) invisible.push(static_cast<uint32_t>(i));
          if (odd_blank(c)) blanks.push(static_cast<uint32_t>(i));
        }
      }
    });
  }
  return nb::make_tuple(own(std::move(invisible)), own(std::move(blanks)), own(std::move(digits)));
}

nb::tuple apart_runs(View<uint32_t> starts, View<uint32_t> ends, View<uint8_t> flags, View<uint64_t> offsets, uint32_t least) {
  check_offsets(offsets, starts.size());
  if (ends.size() != starts.size() || flags.size() != starts.size()) throw nb::value_error("starts, ends and flags must be of one length");
  Buffer<uint32_t> firsts, lasts;
  {
    nb::gil_scoped_release release;
    const uint32_t *start = starts.data(), *end = ends.data();
    const uint8_t* flag = flags.data();
    for (size_t d = 0; d + 1 < offsets.size(); ++d)
      for (uint64_t i = offsets.data()[d], stop = offsets.data()[d + 1]; i < stop;) {
        const auto apart = [&](uint64_t word) { return (flag[word] & kFlagSpaced) || end[word] - start[word] == 1; };
        if (!apart(i)) {
          ++i;
          continue;
        }
        uint64_t next = i + 1;
        while (next < stop && apart(next) && start[next] - end[next - 1] == 1) ++next;
        if (end[next - 1] - start[i] >= least) {
          firsts.push(static_cast<uint32_t>(i));
          lasts.push(static_cast<uint32_t>(next));
        }
        i = next;
      }
  }
  return nb::make_tuple(own(std::move(firsts)), own(std::move(lasts)));
}

}  // namespace doublet
