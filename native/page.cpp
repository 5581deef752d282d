// The blocks of a page from its markup. Twin of doublet/kernels/reference/page.py, which says what is done.
#include "kernels.hpp"
#include "utf8.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace doublet {

namespace {

using View8 = std::string_view;
using Letters = std::u32string;

enum Effect : uint8_t { kBlock, kWithin, kSkipped, kBreak, kLink, kRaised, kRow, kCell };
enum : uint8_t { kInRows = 1, kVerbatim = 2, kSmallBlock = 4 };  // more about a tag

struct Tag {
  Effect effect = kBlock;
  uint8_t more = 0;
};

const std::unordered_map<View8, Tag>& tags() {
  static const auto* table = [] {
    auto* made = new std::unordered_map<View8, Tag>;
    for (const char* name : {"abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img",
                             "input", "ins", "kbd", "label", "mark", "meter", "nobr", "output", "progress", "q", "ruby", "s", "samp", "small",
                             "span", "strike", "strong", "sub", "time", "tt", "u", "var", "wbr", "rb", "rp", "rt", "o:p"})
      (*made)[name] = {kWithin, kInRows};
    for (const char* name : {"script", "style", "noscript", "template", "head", "title", "meta", "link", "base", "object", "embed", "applet",
                             "iframe", "svg", "canvas", "audio", "video", "select", "option", "datalist", "textarea", "button", "math", "map",
                             "area", "frameset", "frame", "noframes"})
      (*made)[name] = {kSkipped, 0};
    for (const char* name : {"pre", "listing", "xmp", "plaintext"}) (*made)[name] = {kBlock, kVerbatim};
    for (const char* name : {"p", "div"}) (*made)[name] = {kBlock, kInRows | kSmallBlock};
    (*made)["br"] = {kBreak, kInRows};
    (*made)["a"] = {kLink, kInRows};
    (*made)["sup"] = {kRaised, kInRows};
    (*made)["tr"] = {kRow, 0};
    (*made)["td"] = (*made)["th"] = {kCell, kInRows};
    return made;
  }();
  return *table;
}

Tag tag_of(View8 name) {
  const auto found = tags().find(name);
  return found == tags().end() ? Tag() : found->second;
}

// Letters of scripts that put no blanks between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese.
bool is_unspaced(uint32_t c) {
  return c >= 0xE00 && (c <= 0xEFF || (c >= 0x1000 && c <= 0x109F) || (c >= 0x1780 && c <= 0x17FF) || (c >= 0x3040 && c <= 0x30FF) ||
                        (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
                        (c >= 0x20000 && c <= 0x3FFFF));
}
constexpr uint32_t kUnspacedWord = 2;  // such letters that count as a word

bool is_blank(uint32_t c) {
  if (c < 128) return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
  return Py_UNICODE_ISSPACE(static_cast<Py_UCS4>(c));
}
bool is_source_blank(uint32_t c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }
bool is_word(uint32_t c) { return c == '_' || Py_UNICODE_ISALNUM(static_cast<Py_UCS4>(c)); }
bool is_decimal(uint32_t c) { return c < 128 ? c >= '0' && c <= '9' : Py_UNICODE_ISDECIMAL(static_cast<Py_UCS4>(c)) != 0; }
bool is_name(unsigned char c) {
  return c >= 128 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' || c == '_' || c == '-' || c == '.';
}

// Characters of well-formed UTF-8 with the references that canonical XML has; false when it is anything else.
bool decode(View8 raw, Letters& out) {
  static const std::pair<View8, char32_t> kReferences[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'},
                                                           {"&#xD;", '\r'}, {"&#xA;", '\n'}, {"&#x9;", '\t'}};
  for (size_t i = 0; i < raw.size();) {
    const unsigned char c = static_cast<unsigned char>(raw[i]);
    if (c == '&') {
      bool known = false;
      for (const auto& [name, letter] : kReferences)
        if (raw.compare(i, name.size(), name) == 0) {
          out.push_back(letter);
          i += name.size();
          known = true;
          break;
        }
      if (!known) return false;
    } else if (c < 0x80) {
      out.push_back(c);
      ++i;
    } else {
      const size_t more = c >= 0xF0 && c < 0xF5 ? 3 : c >= 0xE0 && c < 0xF0 ? 2 : c >= 0xC2 && c < 0xE0 ? 1 : 0;
      if (!more || raw.size() - i <= more) return false;
      uint32_t letter = c & (0x3F >> more);
      for (size_t k = 1; k <= more; ++k) {
        const unsigned char next = static_cast<unsigned char>(raw[i + k]);
        if ((next & 0xC0) != 0x80) return false;
        letter = letter << 6 | (next & 0x3F);
      }
      if ((more == 2 && (letter < 0x800 || (letter >= 0xD800 && letter < 0xE000))) || (more == 3 && (letter < 0x10000 || letter > 0x10FFFF)))
        return false;
      out.push_back(letter);
      i += more + 1;
    }
  }
  return true;
}

size_t stripped(const Letters& text, size_t from, size_t& start) {
  start = from;
  size_t end = text.size();
  while (start < end && is_blank(text[start])) ++start;
  while (end > start && is_blank(text[end - 1])) --end;
  return end - start;
}

// Markup as canonical XML has it: start tags with quoted values, end tags, text.
struct Scanner {
  struct Attributes {
    View8 classes, own, role, epub;
    bool href = false, here = false, has_class = false, has_role = false, has_epub = false;
  };
  View8 all;
  size_t at = 0;
  // Of what was read last:
  enum Kind { kEnd, kBad, kStartTag, kEndTag, kText } kind = kEnd;
  View8 name;  // or the text
  Attributes has;

  explicit Scanner(View8 markup) : all(markup) {}

  Kind next() { return kind = read(); }

 private:
  Kind read() {
    if (at >= all.size()) return kEnd;
    if (all[at] != '<') {
      size_t end = all.find('<', at);
      if (end == View8::npos) end = all.size();
      name = all.substr(at, end - at);
      at = end;
      return kText;
    }
    ++at;
    const bool closes = at < all.size() && all[at] == '/';
    if (closes) ++at;
    name = word();
    if (name.empty()) return kBad;
    if (closes) return at < all.size() && all[at] == '>' ? (++at, kEndTag) : kBad;
    has = Attributes();
    while (at < all.size() && all[at] == ' ') {
      ++at;
      const View8 key = word();
      if (key.empty() || all.compare(at, 2, "=\"") != 0) return kBad;
      at += 2;
      const size_t end = all.find('"', at);
      if (end == View8::npos) return kBad;
      const View8 value = all.substr(at, end - at);
      if (value.find('<') != View8::npos) return kBad;
      at = end + 1;
      if (key == "class") has.classes = value, has.has_class = true;
      else if (key == "id") has.own = value;
      else if (key == "role") has.role = value, has.has_role = true;
      else if (key == "epub:type") has.epub = value, has.has_epub = true;
      else if (key == "href") has.href = true, has.here = !value.empty() && value[0] == '#';
    }
    return at < all.size() && all[at] == '>' ? (++at, kStartTag) : kBad;
  }
  View8 word() {
    const size_t from = at;
    while (at < all.size() && is_name(static_cast<unsigned char>(all[at]))) ++at;
    return all.substr(from, at - from);
  }
};

struct Malformed {};

class Cutter {
 public:
  explicit Cutter(View8 markup) : scan_(markup) {}

  std::vector<Letters> texts;
  Buffer<uint32_t> words, linked, orders, holders, parents, names;
  Buffer<double> shares;
  Buffer<uint8_t> said;
  std::vector<std::string> keys;

  void run() {
    for (;;) {
      switch (scan_.next()) {
        case Scanner::kBad: throw Malformed();
        case Scanner::kEnd:
          if (!open_.empty() || !nodes_.size()) throw Malformed();
          return;
        case Scanner::kText:
          if (open_.empty()) throw Malformed();
          if (!skipping_) add(scan_.name);
          break;
        case Scanner::kStartTag:
          if (open_.empty() && count_) throw Malformed();  // a second root
          start();
          break;
        case Scanner::kEndTag:
          if (open_.empty() || open_.back().name != scan_.name) throw Malformed();
          finish_element();
          break;
      }
    }
  }

 private:
  struct Open {
    View8 name;
    Effect effect;
    uint32_t node;
  };
  struct Node {
    View8 name;
    uint32_t order, parent;
    Scanner::Attributes has;
    int64_t around = -1;  // its number among the elements around blocks
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  void start() {
    const uint32_t order = count_++;
    if (skipping_) {
      open_.push_back({scan_.name, kSkipped, kNone});
      ++skipping_;
      return;
    }
    const View8 name = scan_.name;
    const Tag tag = tag_of(name);
    Effect effect = tag.effect;
    if (effect == kLink) {
      effect = is_note_link() ? kSkipped : scan_.has.href && !(scan_.has.here && in_heading()) ? kLink : kWithin;
      links_ += effect == kLink;
    } else if (effect == kRaised) {
      effect = is_note_mark() ? kSkipped : kWithin;
    } else if (name == "button" && is_never_closed()) {
      effect = kBlock;
    }
    const uint32_t node = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back({name, order, open_.empty() ? node : open_.back().node, scan_.has});
    open_.push_back({name, effect, node});
    anchors_ += name == "a";
    if (effect == kSkipped) {
      skipping_ = 1;
    } else if (effect == kBreak) {
      pieces_.push_back('\v');
    } else if (is_block(effect)) {
      if (row_ == kNone) {
        if (!pieces_.empty()) put();
        owner_ = node;
        verbatim_ += (tag.more & kVerbatim) != 0;
        if (effect == kRow && is_flat()) row_ = node;
      } else {
        pieces_.push_back(effect == kCell ? 0x1F : ' ');
      }
    }
  }

  // A link to the place where it is, as manuals have in their headings, leads nowhere else.
  bool in_heading() const {
    if (nodes_.empty()) return false;
    const View8 name = nodes_[owner_].name;
    return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6';
  }

  void finish_element() {
    const Open ended = open_.back();
    open_.pop_back();
    if (skipping_ && --skipping_) return;
    anchors_ -= ended.name == "a";
    if (is_block(ended.effect)) {
      if (row_ == kNone || row_ == ended.node) {
        if (!pieces_.empty()) put();
        row_ = kNone;
        verbatim_ -= (tag_of(ended.name).more & kVerbatim) != 0;
        owner_ = open_.empty() ? 0 : open_.back().node;
      } else {
        pieces_.push_back(' ');
      }
    } else if (ended.effect == kLink) {
      --links_;
    }
  }

  static bool is_block(Effect effect) { return effect == kBlock || effect == kRow || effect == kCell; }

  void add(View8 raw) {
    const size_t from = pieces_.size();
    if (!decode(raw, pieces_)) throw Malformed();
    size_t begin;
    const size_t size = stripped(pieces_, from, begin);
    if (!from && !verbatim_ && !size) pieces_.clear();  // blanks before the first word
    else if (links_) linked_ += static_cast<uint32_t>(size);
  }

  // One block is whole: what it says, where it is.
  void put() {
    Letters text;
    bool any = false;
    for (const char32_t c : pieces_) any |= !is_blank(c);
    if (any) {
      if (verbatim_) {
        size_t from = 0, to = pieces_.size();
        while (from < to && pieces_[from] == '\n') ++from;
        while (to > from && pieces_[to - 1] == '\n') --to;
        text = pieces_.substr(from, to - from);
      } else {
        size_t from = 0;
        bool first = true;
        for (size_t i = 0; i <= pieces_.size(); ++i) {
          if (i < pieces_.size() && pieces_[i] != '\v') continue;
          if (!first) text.push_back('\n');
          first = false;
          in_one_line(from, i, text);
          from = i + 1;
        }
        strip(text);
        if (row_ != kNone) cells(text);
      }
      keep(std::move(text));
    }
    pieces_.clear();
    linked_ = 0;
  }

  void in_one_line(size_t from, size_t to, Letters& out) const {
    while (from < to && is_blank(pieces_[from])) ++from;
    while (to > from && is_blank(pieces_[to - 1])) --to;
    bool blank = false;
    for (size_t i = from; i < to; ++i) {
      const char32_t c = pieces_[i];
      if (is_source_blank(c)) {
        blank = true;
        continue;
      }
      if (blank) out.push_back(' ');
      blank = false;
      out.push_back(c);
    }
  }
  static void strip(Letters& text) {
    size_t begin;
    const size_t size = stripped(text, 0, begin);
    if (size < text.size()) text = text.substr(begin, size);
  }
  // Cells are parted by tabs.
  static void cells(Letters& text) {
    Letters out;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == 0x1F || (text[i] == ' ' && i + 1 < text.size() && text[i + 1] == 0x1F)) {
        i += text[i] == ' ';
        if (i + 1 < text.size() && text[i + 1] == ' ') ++i;
        out.push_back('\t');
      } else {
        out.push_back(text[i]);
      }
    }
    size_t from = 0, to = out.size();
    while (from < to && out[from] == '\t') ++from;
    while (to > from && out[to - 1] == '\t') --to;
    text = out.substr(from, to - from);
  }

  void keep(Letters&& text) {
    uint32_t count = 0, spaces = 0, unspaced = 0;
    bool inside = false;
    for (const char32_t c : text) {
      const bool blank = is_blank(c);
      count += !blank && !inside;
      inside = !blank;
      spaces += c == ' ';
      unspaced += is_unspaced(c);
    }
    count += unspaced / kUnspacedWord;
    const size_t letters = text.size() - spaces;
    words.push(count);
    linked.push(linked_);
    shares.push(linked_ ? std::min(1.0, static_cast<double>(linked_) / static_cast<double>(letters ? letters : 1)) : 0.0);
    said.push(hints(text, count));
    orders.push(nodes_[owner_].order);
    holders.push(around(owner_));
    texts.push_back(std::move(text));
  }

  uint32_t around(uint32_t node) {
    std::vector<uint32_t> chain;
    while (nodes_[node].around < 0) {
      chain.push_back(node);
      if (nodes_[node].parent == node) break;
      node = nodes_[node].parent;
    }
    while (!chain.empty()) {
      node = chain.back();
      chain.pop_back();
      Node& one = nodes_[node];
      one.around = static_cast<int64_t>(parents.size);
      parents.push(static_cast<uint32_t>(one.parent == node ? one.around : nodes_[one.parent].around));
      std::string key(one.name);
      key.push_back('\0');
      append(one.has.classes, key);
      const auto known = kinds_.emplace(key, static_cast<uint32_t>(kinds_.size()));
      names.push(known.first->second);
      for (const View8 value : {one.has.own, one.has.role, one.has.epub}) {
        key.push_back('\0');
        append(value, key);
      }
      keys.push_back(std::move(key));
    }
    return static_cast<uint32_t>(nodes_[node].around);
  }

  static void append(View8 value, std::string& out) {
    if (value.find('&') == View8::npos) {
      out.append(value);
      return;
    }
    Letters letters;
    if (!decode(value, letters)) throw Malformed();
    for (const char32_t c : letters) put_utf8(c, [&](uint8_t byte) { out.push_back(static_cast<char>(byte)); });
  }

  // What a block speaks of, as far as that can be told quickly.
  static uint8_t hints(const Letters& text, uint32_t count) {
    if (count >= 150) return 0;
    Letters low(text);
    bool digit = false;
    for (char32_t& c : low) {
      digit |= c >= '0' && c <= '9';
      c = c < 128 ? (c >= 'A' && c <= 'Z' ? c + 32 : c) : static_cast<char32_t>(Py_UNICODE_TOLOWER(static_cast<Py_UCS4>(c)));
    }
    uint8_t out = 0;
    if (count < 15 && digit && is_dated(low)) out |= 1;
    static const std::u32string_view kRights[] = {U"right", U"\u00A9", U"(c)", U"права защ", U"powered by", U"privacy p", U"terms of"};
    bool found = low.find(U"cookie") != Letters::npos;
    if (count < 30)
      for (const auto& word : kRights) found = found || low.find(word) != Letters::npos;
    return static_cast<uint8_t>(out | (found ? 8 : 0));
  }

  static bool is_dated(const Letters& s) {
    const size_t n = s.size();
    const auto at = [&](size_t i) -> uint32_t { return i < n ? s[i] : 0; };
    const auto decimal = [&](size_t i) { return i < n && is_decimal(s[i]); };
    const auto has = [&](size_t i, std::u32string_view word) { return s.compare(i, word.size(), word) == 0; };
    static const std::u32string_view kMonths[] = {U"jan", U"feb", U"mar", U"apr", U"may", U"jun", U"jul", U"aug", U"sep", U"oct", U"nov", U"dec"};
    static const std::u32string_view kInside[] = {U"назад", U"янв", U"фев", U"март", U"апр", U"мая", U"июн", U"июл", U"авг", U"сент", U"окт", U"нояб", U"дек"};
    for (size_t i = 0; i < n; ++i) {
      const bool begins = !i || !is_word(s[i - 1]);
      const char32_t c = s[i];
      if (begins && (has(i, U"19") || has(i, U"20")) && decimal(i + 2) && decimal(i + 3) && !(i + 4 < n && is_word(s[i + 4]))) return true;
      if (is_decimal(c) && (at(i + 1) == ':' || at(i + 1) == '.') && decimal(i + 2) && decimal(i + 3)) return true;
      if (begins && c >= 'a' && c <= 'z') {
        if (has(i, U"ago") && !(i + 3 < n && is_word(s[i + 3]))) return true;
        for (const auto& month : kMonths)
          if (has(i, month)) {
            size_t end = i + 3;
            while (end < n && s[end] >= 'a' && s[end] <= 'z') ++end;
            if (end >= n || !is_word(s[end])) return true;
          }
      }
      if (c >= 0x400 && c < 0x500)
        for (const auto& word : kInside)
          if (has(i, word)) return true;
    }
    return false;
  }

  // The rest of the element that has just begun: its text, whether it holds links.
  bool inside(Letters& text) {
    bool anchor = false;
    Scanner ahead = scan_;
    for (size_t depth = 1; depth;) switch (ahead.next()) {
        case Scanner::kStartTag:
          ++depth;
          anchor |= ahead.name == "a";
          break;
        case Scanner::kEndTag: --depth; break;
        case Scanner::kText:
          if (!decode(ahead.name, text)) throw Malformed();
          break;
        default: throw Malformed();
      }
    return anchor;
  }

  // A link to a note, or back from it, by what it is called.
  bool is_note_link() {
    const auto& has = scan_.has;
    if (!(has.has_class || has.has_role || has.has_epub)) return false;
    bool named = false;
    for (const View8 value : {has.classes, has.role, has.epub}) {
      std::string low(value);
      for (char& c : low)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
      for (const char* word : {"footnote-ref", "footnote-back", "doc-noteref", "doc-backlink", "sdfootnote", "sdendnote", "noteref"})
        named |= low.find(word) != std::string::npos;
    }
    if (!named) return false;
    Letters text;
    inside(text);
    size_t begin;
    return stripped(text, 0, begin) <= 6;
  }

  // A raised number or sign, in a link or around one.
  bool is_note_mark() {
    Letters text;
    const bool anchor = inside(text);
    if (!anchor && !anchors_) return false;
    size_t from;
    size_t to = stripped(text, 0, from);
    to += from;
    if (from < to && (text[from] == '[' || text[from] == '(')) ++from;
    if (from < to && (text[to - 1] == ']' || text[to - 1] == ')')) --to;
    const size_t size = to - from;
    if (!size || size > 5) return false;
    bool decimals = size <= 4, roman = true;
    for (size_t i = from; i < to; ++i) {
      decimals &= is_decimal(text[i]);
      roman &= text[i] == 'i' || text[i] == 'v' || text[i] == 'x';
    }
    const char32_t c = text[from];
    return decimals || roman || (size == 1 && (c == '*' || c == 0x2020 || c == 0x2021 || (c >= 'a' && c <= 'z')));
  }

  // A button that holds half a page.
  bool is_never_closed() {
    Scanner ahead = scan_;
    size_t elements = 0;
    for (size_t depth = 1; depth;) switch (ahead.next()) {
        case Scanner::kStartTag:
          ++depth;
          if (++elements > 30) return true;
          break;
        case Scanner::kEndTag: --depth; break;
        case Scanner::kText: break;
        default: throw Malformed();
      }
    return false;
  }

  // A row of a table of data: its cells hold words and no blocks.
  bool is_flat() {
    Scanner ahead = scan_;
    Letters text;
    size_t small = 0, most = 0, cell = 0;
    for (size_t depth = 1; depth;) switch (ahead.next()) {
        case Scanner::kStartTag: {
          if (depth == 1) cell = 0;
          ++depth;
          const Tag tag = tag_of(ahead.name);
          if (!(tag.more & kInRows)) return false;
          small += (tag.more & kSmallBlock) != 0;
          if (small > 40) return false;
          break;
        }
        case Scanner::kEndTag:
          --depth;
          if (depth == 1) most = std::max(most, cell);
          break;
        case Scanner::kText:
          text.clear();
          if (!decode(ahead.name, text)) throw Malformed();
          cell += text.size();
          break;
        default: throw Malformed();
      }
    return most < 600;
  }

  Scanner scan_;
  std::vector<Open> open_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, uint32_t> kinds_;
  Letters pieces_;
  uint32_t count_ = 0, owner_ = 0, row_ = kNone, linked_ = 0;
  size_t skipping_ = 0, links_ = 0, anchors_ = 0, verbatim_ = 0;
};

}  // namespace

nb::object cut_markup(nb::bytes markup) {
  Cutter cut(std::string_view(markup.c_str(), markup.size()));
  if (markup.size() >= size_t{1} << 32) throw nb::value_error("a page of 4 294 967 296 bytes or more cannot be read");
  try {
    cut.run();
  } catch (const Malformed&) {
    return nb::none();
  }
  nb::list texts, keys;
  for (const Letters& text : cut.texts) {
    PyObject* one = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data(), static_cast<Py_ssize_t>(text.size()));
    if (!one) throw nb::python_error();
    texts.append(nb::steal(one));
  }
  for (const std::string& key : cut.keys) {
    PyObject* one = PyUnicode_DecodeUTF8(key.data(), static_cast<Py_ssize_t>(key.size()), "strict");
    if (!one) {
      if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) throw nb::python_error();
      PyErr_Clear();
      return nb::none();
    }
    keys.append(nb::steal(one));
  }
  return nb::make_tuple(texts, own(std::move(cut.words)), own(std::move(cut.linked)), own(std::move(cut.shares)), own(std::move(cut.said)),
                        own(std::move(cut.orders)), own(std::move(cut.holders)), own(std::move(cut.parents)), own(std::move(cut.names)), keys);
}

}  // namespace doublet
