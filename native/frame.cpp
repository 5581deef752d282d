// The blocks of a page: their signs, and what they are without numbers. Twins of doublet/kernels/reference/frame.py,
// which says what they mean.
#include "kernels.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace doublet {

namespace {

// The bits of doublet/kernels/elements.py.
constexpr uint32_t kHeader = 1u << 4, kArticle = 1u << 5, kMain = 1u << 6, kComments = 1u << 15, kInherited = (1u << 16) - 1;
constexpr uint32_t kBeside = 1u << 16, kFrame = 1u << 17, kLast = 1u << 18, kListed = 1u << 19, kCommentList = 1u << 20;
constexpr uint32_t kNamedAround[] = {1u << 21, 1u << 22, 1u << 23, 1u << 28}, kNamedNear[] = {1u << 29, 1u << 30, 1u << 31};
constexpr int kInsideBits = 16, kKindShift = 24, kKinds = 12;
constexpr uint32_t kKindMask = 15;
constexpr uint32_t kH1 = 1, kH2 = 2, kH3 = 3, kSmallHeading = 12;
constexpr uint8_t kDated = 1, kRights = 2, kCookies = 4;
constexpr uint8_t kFramed = 1, kMenu = 2, kNever = 4;
constexpr size_t kColumns = 18 + kKinds + kInsideBits + 17 + 5 + 10 + 27 + std::size(kNamedAround) + std::size(kNamedNear);

struct Options {
  double running, part, centre, around, most, beside_comments, beside_footer;

  // By the names of doublet.kernels.settings.FrameOptions.
  explicit Options(nb::handle given) {
    const auto of = [&](const char* name) {
      const double value = nb::cast<double>(nb::getattr(given, name));
      if (!(value >= 0 && value <= 1e6)) throw nb::value_error("a setting can be 0 to 1,000,000");
      return value;
    };
    running = of("running");
    part = of("short");
    centre = of("centre");
    around = of("around");
    most = of("most");
    beside_comments = of("beside_comments");
    beside_footer = of("beside_footer");
  }
};

bool is_blank(uint32_t c) {
  if (c < 128) return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
  return Py_UNICODE_ISSPACE(static_cast<Py_UCS4>(c));
}

struct Said {
  bool stop = false, colon = false, capitals = false;
  size_t commas = 0, digits = 0;
};

template <class C> Said said_by(const C* text, size_t size) {
  Said out;
  size_t end = size;
  while (end && is_blank(text[end - 1])) --end;
  if (end) switch (static_cast<uint32_t>(text[end - 1])) {
      case '.': case '!': case '?': case '"': case 0x2026: case 0x201D: case 0xBB:
      case 0x3002: case 0xFF01: case 0xFF1F: case 0x300D: out.stop = true; break;
      case ':': out.colon = true; break;
      default: break;
    }
  out.commas = static_cast<size_t>(std::count(text, text + size, static_cast<C>(',')));
  for (size_t i = 0; i < size; ++i) {
    const uint32_t c = text[i];
    out.digits += c < 128 ? c >= '0' && c <= '9' : Py_UNICODE_ISDECIMAL(static_cast<Py_UCS4>(c)) != 0;
  }
  bool large = false;
  for (size_t i = 0; i < size; ++i) {
    const Py_UCS4 c = text[i];
    if (Py_UNICODE_ISLOWER(c) || Py_UNICODE_ISTITLE(c)) return out;
    large |= Py_UNICODE_ISUPPER(c) != 0;
  }
  out.capitals = large;
  return out;
}

Said said_by(const Text& text) {
  switch (text.kind) {
    case 1: return said_by(static_cast<const uint8_t*>(text.data), text.size);
    case 2: return said_by(static_cast<const uint16_t*>(text.data), text.size);
    default: return said_by(static_cast<const uint32_t*>(text.data), text.size);
  }
}

class Page {
 public:
  Page(View<uint32_t> words, View<double> linked, View<uint32_t> holders, View<uint32_t> parents, View<uint32_t> elements, const Options& set)
      : words_(words.data()), linked_(linked.data()), where_(holders.data()), above_(parents.data()), count_(words.size()),
        size_(parents.size()), set_(set), own_(elements.data(), elements.data() + elements.size()), inside_(size_) {
    for (size_t i = 0; i < size_; ++i) {
      const uint32_t around = above_[i] < i ? inside_[above_[i]] : 0;
      if (own_[i] & kHeader && !(around & (kArticle | kMain))) own_[i] |= kFrame;  // the head of a page, not of an article
      inside_[i] = own_[i] | (around & kInherited);
    }
  }

  void measure(const Texts& texts, const uint8_t* said, const uint32_t* names, bool article, double* out, uint8_t* flags) {
    mark_frame(flags);
    look_around();
    look_at_shape(names);
    uint64_t all = 0, before = 0;
    for (size_t i = 0; i < count_; ++i) all += words_[i];
    const double total = std::max(1.0, static_cast<double>(all));
    size_t first = count_;
    for (size_t i = count_; i-- > 0;)
      if (kind(i) == kH1) first = i;
    const bool headed = first < count_;
    for (size_t i = 0; i < count_; ++i) {
      const double amount = words_[i], share = linked_[i], at = static_cast<double>(before) / total;
      const uint32_t place = where_[i];
      const Said own = said_by(texts.items[i]);
      const auto put = [&](double value) { *out++ = value; };
      put(std::min(amount, 5.0) / 5.0);
      put(std::min(amount, 15.0) / 15.0);
      put(std::min(amount, 40.0) / 40.0);
      put(std::log1p(amount) / 5.0);
      put(share);
      put(share > 0.9);
      put(amount < 15 ? share : 0.0);
      put(share > 0);
      put(own.stop);
      put(own.stop && amount >= 5);
      put(own.colon);
      put(std::min(1.0, static_cast<double>(own.commas) / (amount + 1.0) * 5.0));
      put(own.capitals);
      put((said[i] & kDated) != 0);
      put((said[i] & kRights) != 0);
      put((said[i] & kCookies) != 0);
      put(flags[i] != 0);
      put(is_beside(place));
      for (uint32_t one = 1; one <= kKinds; ++one) put(kind(i) == one);
      for (int bit = 0; bit < kInsideBits; ++bit) put(inside_[place] >> bit & 1);
      uint32_t holder = place;
      for (int up = 0; up < 3; ++up) {
        holder = above_[holder];
        const Facts& facts = facts_[holder];
        put(facts.share);
        put(facts.links);
        put(facts.length);
        put(facts.amount);
      }
      const double mine = text_of(i);
      holder = place;
      while (held_[holder].text - mine < set_.around && above_[holder] < holder) holder = above_[holder];
      put(facts_[holder].share);
      put(facts_[holder].links);
      put(facts_[holder].length);
      put(below_[place] >= 0);
      put(below_[place] >= 0 ? std::min(static_cast<double>(below_[place]), 5.0) / 5.0 : 1.0);
      put(at);
      put(at < 0.05);
      put(static_cast<double>(i) / static_cast<double>(count_) >= 0.9);
      put(headed && i < first);
      put(headed && i >= first);
      for (int side = 0; side < 2; ++side) {
        const bool there = side ? i + 1 < count_ : i > 0;
        const size_t near = side ? i + 1 : i - 1;
        put(there ? std::min(unlinked(near), 30.0) / 30.0 : 0.0);
        put(there ? linked_[near] : 0.0);
        put(there && names[where_[near]] == names[place]);
        put(there && is_heading(near));
      }
      put(!i || unlinked(i - 1) < 5);
      put(i + 1 >= count_ || unlinked(i + 1) < 5);
      put(article);
      put_shape(i, names, texts.items[i].size, own.digits, flags, put);
      before += words_[i];
    }
    for (size_t i = 0; i < count_; ++i)
      if (said[i] & (kRights | kCookies)) flags[i] |= kNever;
  }

 private:
  struct Held {
    double text = 0, words = 0, in_links = 0, blocks = 0, running = 0;
    uint64_t unlinked = 0, every = 0;  // whole words
  };
  struct Facts {
    double share, links, length, amount;
  };

  struct Alike {
    uint64_t blocks = 0, words = 0, elements = 0, held = 0;
    double links = 0;
  };
  struct Shape {
    uint64_t text = 0, words = 0, blocks = 0, texts = 0;  // what an element holds; of the last, what is directly in it
    int64_t depth = 0;
    uint32_t named = 0;
    bool in_most = false;
  };

  uint32_t kind(size_t i) const { return own_[where_[i]] >> kKindShift & kKindMask; }
  int size_of_heading(size_t i) const {
    const uint32_t one = kind(i);
    return one == kH1 ? 1 : one == kH2 ? 2 : one == kH3 ? 3 : one == kSmallHeading ? 4 : 0;
  }
  bool is_heading(size_t i) const {
    const uint32_t one = kind(i);
    return one == kH1 || one == kH2 || one == kH3 || one == kSmallHeading;
  }
  double unlinked(size_t i) const { return static_cast<double>(words_[i]) * (1.0 - linked_[i]); }
  double text_of(size_t i) const { return words_[i] >= set_.running ? unlinked(i) : set_.part * unlinked(i); }
  bool is_beside(uint32_t place) const {
    for (int up = 0; up < 4; ++up) {
      if (own_[place] & kBeside) return true;
      if (above_[place] == place) return false;
      place = above_[place];
    }
    return false;
  }

  // Blocks inside something that calls itself frame, unless that holds most of the page. Sums up what elements hold.
  void mark_frame(uint8_t* flags) {
    held_.assign(size_, Held());
    uint64_t all = 0, total = 0;
    for (size_t i = 0; i < count_; ++i) {
      Held& held = held_[where_[i]];
      const double amount = words_[i], share = linked_[i], own = text_of(i);
      held.text += own;
      whole_ += own;
      held.words += amount;
      held.in_links += amount * share;
      held.blocks += 1;
      if (amount >= 12 && share < 0.3) held.running += std::min(amount, 40.0);
      held.unlinked += static_cast<uint64_t>(unlinked(i));
      held.every += words_[i];
      all += words_[i];
    }
    for (size_t i = size_; i-- > 0;) {
      if (above_[i] == i) {
        total += held_[i].unlinked;
        continue;
      }
      Held& parent = held_[above_[i]];
      parent.text += held_[i].text;
      parent.words += held_[i].words;
      parent.in_links += held_[i].in_links;
      parent.blocks += held_[i].blocks;
      parent.running += held_[i].running;
      parent.unlinked += held_[i].unlinked;
      parent.every += held_[i].every;
    }
    std::vector<uint32_t> framed(size_, 0);
    for (size_t i = 0; i < size_; ++i) {
      const uint32_t bits = own_[i];
      const Held& held = held_[i];
      if (bits & kFrame && (static_cast<double>(held.unlinked) <= set_.most * static_cast<double>(total) ||
                            (bits & kCommentList && static_cast<double>(total - held.unlinked) >= set_.beside_comments) ||
                            (bits & kLast && !(bits & kComments) && static_cast<double>(all - held.every) >= set_.beside_footer)))
        framed[i] = bits & (kFrame | kLast | kListed);
      const uint32_t around = above_[i] < i ? framed[above_[i]] : 0;
      if (around) framed[i] = (framed[i] | around) & ~(kListed & ~around);  // a list inside a menu is that menu
    }
    for (size_t i = 0; i < count_; ++i) {
      const uint32_t bits = framed[where_[i]];
      flags[i] = static_cast<uint8_t>(bits ? kFramed | (bits & kListed ? 0 : kMenu) | (bits & kLast ? kNever : 0) : 0);
    }
  }

  void look_around() {
    const double whole = std::max(1e-9, whole_);
    facts_.resize(size_);
    below_.assign(size_, -1);
    std::vector<int64_t> depth(size_, 0);
    int64_t deepest = -1;
    size_t centre = size_;
    for (size_t i = 0; i < size_; ++i) {
      const Held& held = held_[i];
      facts_[i] = {held.text / whole, held.in_links / std::max(1.0, held.words),
                   std::min(1.0, held.words / std::max(1.0, held.blocks) / 30.0), std::log1p(held.running) / 7.0};
      if (above_[i] < i) depth[i] = depth[above_[i]] + 1;
      if (facts_[i].share >= set_.centre && depth[i] > deepest) {
        deepest = depth[i];
        centre = i;
      }
    }
    for (size_t i = 0; i < size_; ++i) {
      if (i == centre) below_[i] = 0;
      else if (above_[i] < i && below_[above_[i]] >= 0) below_[i] = below_[above_[i]] + 1;
    }
  }

  void look_at_shape(const uint32_t* names) {
    text_.assign(count_, 0);
    alike_.assign(size_, Alike());
    shape_.assign(size_, Shape());
    uint64_t all_text = 0, texts = 0;
    for (size_t i = 0; i < count_; ++i) {
      if (words_[i] >= 15 && linked_[i] < 0.25 && !is_heading(i)) text_[i] = words_[i];
      const uint32_t place = where_[i];
      const double in_links = words_[i] * linked_[i];
      in_links_ += in_links;
      every_ += words_[i];
      all_text += text_[i];
      texts += text_[i] > 0;
      Alike& alike = alike_[names[place]];
      ++alike.blocks;
      alike.words += words_[i];
      alike.links += in_links;
      Shape& shape = shape_[place];
      shape.words += words_[i];
      shape.text += text_[i];
      ++shape.blocks;
      shape_[above_[place]].texts += text_[i] > 0;
    }
    all_text_ = std::max(1.0, static_cast<double>(all_text));
    texts_ = std::max(1.0, static_cast<double>(texts));
    for (size_t i = size_; i-- > 0;) {
      if (above_[i] == i) continue;
      Shape& parent = shape_[above_[i]];
      parent.words += shape_[i].words;
      parent.text += shape_[i].text;
      parent.blocks += shape_[i].blocks;
    }
    size_t most = 0;
    for (size_t i = 1; i < size_; ++i)
      if (shape_[i].texts > shape_[most].texts) most = i;
    for (size_t i = 0; i < size_; ++i) {
      Alike& alike = alike_[names[i]];
      ++alike.elements;
      alike.held += shape_[i].words;
      const bool inside = above_[i] < i;
      const Shape& parent = shape_[above_[i]];
      shape_[i].depth = inside ? parent.depth + 1 : 0;
      shape_[i].named = own_[i] | (inside ? parent.named : 0);
      shape_[i].in_most = i == most || (inside && parent.in_most);
    }
    std::vector<int64_t> depths;
    for (size_t i = 0; i < count_; ++i)
      if (text_[i]) depths.push_back(shape_[where_[i]].depth);
    if (!depths.empty()) {
      const auto half = depths.begin() + static_cast<ptrdiff_t>(depths.size() / 2);
      std::nth_element(depths.begin(), half, depths.end());
      middle_ = *half;
    }
  }

  template <class Put>
  void put_shape(size_t i, const uint32_t* names, size_t letters, size_t digits, const uint8_t* flags, const Put& put) {
    uint32_t place = where_[i];
    const Shape &own = shape_[place], &parent = shape_[above_[place]];
    const Alike &alike = alike_[names[place]], &of_parent = alike_[names[above_[place]]];
    const double every = static_cast<double>(every_);
    uint64_t near_words = 0, near_text = 0;
    double near_unlinked = 0;
    for (size_t other = i > 10 ? i - 10 : 0; other < std::min(count_, i + 11); ++other) {
      near_text += text_[other];
      if (other + 3 >= i && other <= i + 3) {
        near_words += words_[other];
        near_unlinked += unlinked(other);
      }
    }
    const auto logarithm = [](uint64_t value) { return std::log1p(static_cast<double>(value)); };
    put(logarithm(every_) / 10.0);
    put(logarithm(count_) / 8.0);
    put(in_links_ / std::max(1.0, every));
    put(static_cast<double>(text_before_) / all_text_);
    put(std::max(0.0, all_text_ - static_cast<double>(text_before_) - static_cast<double>(text_[i])) / all_text_);
    put(logarithm(alike.blocks) / 6.0);
    put(std::min(60.0, static_cast<double>(alike.words) / static_cast<double>(alike.blocks)) / 60.0);
    put(alike.links / std::max(1.0, static_cast<double>(alike.words)));
    put(logarithm(of_parent.elements) / 5.0);
    put(std::min(300.0, static_cast<double>(of_parent.held) / static_cast<double>(of_parent.elements)) / 300.0);
    put(static_cast<double>(own.depth) / 30.0);
    put(static_cast<double>(own.depth - middle_));
    put(static_cast<double>(parent.texts) / texts_);
    put(static_cast<double>(parent.text) / all_text_);
    put(logarithm(parent.words) / 8.0);
    put(logarithm(parent.blocks) / 6.0);
    put(own.in_most);
    put(std::min(100.0, near_unlinked / 7.0) / 100.0);
    put(1.0 - near_unlinked / std::max(1.0, static_cast<double>(near_words)));
    put(static_cast<double>(near_text) / all_text_);
    const bool headed = heading_ < count_;
    put(headed ? static_cast<double>(std::min<size_t>(20, i - heading_)) / 20.0 : 1.0);
    put(headed ? linked_[heading_] : 0.0);
    put(headed && flags[heading_]);
    put(headed ? size_of_heading(heading_) / 4.0 : 1.25);
    put(static_cast<double>(digits) / std::max(1.0, static_cast<double>(letters)));
    put(std::min(12.0, static_cast<double>(letters) / std::max(1.0, static_cast<double>(words_[i]))) / 12.0);
    for (const uint32_t bit : kNamedAround) put((own.named & bit) != 0);
    uint32_t near = 0;
    for (int up = 0; up < 3; ++up) {
      near |= own_[place];
      place = above_[place];
    }
    for (const uint32_t bit : kNamedNear) put((near & bit) != 0);
    text_before_ += text_[i];
    if (is_heading(i)) heading_ = i;
  }

  const uint32_t* words_;
  const double* linked_;
  const uint32_t *where_, *above_;
  size_t count_, size_;
  const Options& set_;
  std::vector<uint32_t> own_, inside_;
  std::vector<Held> held_;
  std::vector<Facts> facts_;
  std::vector<int64_t> below_;
  double whole_ = 0;
  std::vector<uint64_t> text_;  // words of the blocks that are running text
  std::vector<Alike> alike_;
  std::vector<Shape> shape_;
  uint64_t every_ = 0, text_before_ = 0;
  double in_links_ = 0, all_text_ = 1, texts_ = 1;
  int64_t middle_ = 0;
  size_t heading_ = static_cast<size_t>(-1);
};

template <class C> void plain_bytes(const C* text, size_t size, std::string& out) {
  bool blank = false, number = false;
  for (size_t i = 0; i < size; ++i) {
    const uint32_t c = text[i];
    if (is_blank(c)) {
      blank = !out.empty();
      number = false;
      continue;
    }
    const bool digit = c < 128 ? c >= '0' && c <= '9' : Py_UNICODE_ISDECIMAL(static_cast<Py_UCS4>(c)) != 0;
    if (blank) out.push_back(' ');
    blank = false;
    if (digit && number) continue;
    number = digit;
    if (digit) out.push_back('0');
    else if (c >= 0xD800 && c < 0xE000) out.push_back('?');
    else put_utf8(c, [&](uint8_t byte) { out.push_back(static_cast<char>(byte)); });
  }
}

}  // namespace

nb::list without_numbers(nb::handle sequence) {
  Texts texts(sequence);
  nb::list out;
  std::string plain;
  for (const Text& text : texts.items) {
    plain.clear();
    switch (text.kind) {
      case 1: plain_bytes(static_cast<const uint8_t*>(text.data), text.size, plain); break;
      case 2: plain_bytes(static_cast<const uint16_t*>(text.data), text.size, plain); break;
      default: plain_bytes(static_cast<const uint32_t*>(text.data), text.size, plain); break;
    }
    out.append(nb::bytes(plain.data(), plain.size()));
  }
  return out;
}

nb::tuple block_signs(nb::handle sequence, View<uint32_t> words, View<double> linked, View<uint8_t> said, View<uint32_t> holders,
                      View<uint32_t> parents, View<uint32_t> elements, View<uint32_t> names, nb::handle settings, bool article) {
  Texts texts(sequence);
  const size_t count = texts.items.size(), size = parents.size();
  if (words.size() != count || linked.size() != count || said.size() != count || holders.size() != count)
    throw nb::value_error("every block needs its words, links, what it speaks of and its element");
  if (elements.size() != size || names.size() != size) throw nb::value_error("every element needs its parent, its bits and its names");
  for (size_t i = 0; i < count; ++i) {
    if (!(linked.data()[i] >= 0 && linked.data()[i] <= 1)) throw nb::value_error("the share of links is 0 to 1");
    if (holders.data()[i] >= size) throw nb::value_error("a block is in an element that is not there");
  }
  for (size_t i = 0; i < size; ++i)
    if (parents.data()[i] > i) throw nb::value_error("an element comes before the one around it");
  for (size_t i = 0; i < size; ++i)
    if (names.data()[i] >= size) throw nb::value_error("there are more names than elements");
  const Options set(settings);
  Buffer<double> out;
  Buffer<uint8_t> flags;
  out.resize(count * kColumns);
  flags.resize(count);
  Page(words, linked, holders, parents, elements, set).measure(texts, said.data(), names.data(), article, out.data, flags.data);
  return nb::make_tuple(own(std::move(out), count, kColumns), own(std::move(flags)));
}

Array<double> tree_scores(nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> rows, View<uint16_t> signs,
                          View<double> values, View<uint32_t> others, View<uint32_t> roots) {
  constexpr uint16_t kLeaf = 0xFFFF;
  const size_t count = rows.shape(0), columns = rows.shape(1), size = signs.size();
  if (values.size() != size || others.size() != size) throw nb::value_error("every node needs its sign, its value and its other branch");
  for (size_t node = 0; node < size; ++node) {
    if (signs.data()[node] == kLeaf) continue;
    if (signs.data()[node] >= columns) throw nb::value_error("a node asks for a sign that is not there");
    if (node + 1 >= size || others.data()[node] <= node || others.data()[node] >= size)
      throw nb::value_error("the branches of a node come after it");
  }
  for (size_t i = 0; i < roots.size(); ++i)
    if (roots.data()[i] >= size) throw nb::value_error("a tree begins where there is no node");
  Buffer<double> out;
  out.resize(count);
  const uint16_t* const sign = signs.data();
  const double* const value = values.data();
  const uint32_t* const other = others.data();
  for (size_t i = 0; i < count; ++i) {
    const double* const row = rows.data() + i * columns;
    double sum = 0;
    for (size_t tree = 0; tree < roots.size(); ++tree) {
      size_t node = roots.data()[tree];
      while (sign[node] != kLeaf) node = row[sign[node]] <= value[node] ? node + 1 : other[node];
      sum += value[node];
    }
    out.data[i] = sum;
  }
  return own(std::move(out));
}

}  // namespace doublet
