// Many text files at once: read, Markdown blanked out, numbers of words, borders and signs between them, and which words
// can belong to an exact repeat. Twins of the functions of the same names in doublet/kernels/reference/markup.py.
#include "kernels.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace doublet {

namespace {

bool is_space(uint32_t c) {
  if (c < 128) return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
  return Py_UNICODE_ISSPACE(static_cast<Py_UCS4>(c));
}

// ---- reading

// A text that can be taken as it is: printable ASCII and line ends, or more bytes beyond ASCII (which must turn out to be
// UTF-8). What begins like something else, or holds other controls, takes the long way.
bool is_plain(const std::string& data) {
  static const char* const kOther[] = {"%", "{", "BZh", "GIF8", "AT&TFORM", "Rar!", "PAR1", "\xEF\xBB\xBF"};
  for (const char* head : kOther)
    if (data.compare(0, std::strlen(head), head) == 0) return false;
  struct Odd {
    uint8_t flag[256] = {};
    Odd() {
      for (int c = 0; c < 32; ++c) flag[c] = c != 9 && c != 10 && c != 13;
      flag[127] = 1;
    }
  };
  static const Odd odd;
  uint8_t any = 0;
  for (unsigned char c : data) any |= odd.flag[c];
  return !any;
}

bool read_whole(const char* path, size_t limit, std::string& out) {
#if defined(__unix__) || defined(__APPLE__)
  const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  struct stat facts;
  bool whole = !::fstat(file, &facts) && S_ISREG(facts.st_mode) && static_cast<uint64_t>(facts.st_size) <= limit;
  if (whole) {
    out.resize(static_cast<size_t>(facts.st_size) + 1);
    size_t have = 0;
    for (;;) {
      const ssize_t got = ::read(file, &out[have], out.size() - have);
      if (got < 0) whole = false;
      if (got <= 0) break;
      have += static_cast<size_t>(got);
      if (have > limit) {
        whole = false;
        break;
      }
      if (have == out.size()) out.resize(out.size() * 2);  // it has grown meanwhile
    }
    out.resize(have);
  }
  ::close(file);
  return whole;
#else
  (void)path, (void)limit, (void)out;
  return false;
#endif
}

// ---- Markdown

// How a stretch is blanked out: as what ends the sentence before it, as blanks, as blanks that end nothing, or as nothing
// inside a word.
enum class Blank : uint8_t { border, plain, quiet, filler };

struct Part {
  size_t start, end;
  Blank how;
};

struct Heading {
  size_t start, end, level, from;
};

// What is blanked out inside a line: inside words it does not part them. Of a run of signs of emphasis so many signs on the
// left and on the right are marks.
struct Mark {
  enum How : uint8_t { inside, apart, border, run };
  size_t start, end;
  How how;
  uint32_t left = 0, right = 0;
  bool both = false;  // whether a run can begin emphasis and end it
};

struct Marked {
  std::vector<Part> parts;
  std::vector<size_t> joined;  // line ends inside a paragraph
  std::vector<Heading> headings;
  std::vector<std::pair<size_t, size_t>> code, tables, skipped;  // skipped: code with its fences
  std::string masked;  // characters as they lie in memory; empty when nothing is blank
};

bool in_marks(uint32_t c) {
  switch (c) {
    case '`': case '~': case '#': case '=': case '-': case '|': case '>': case '[': case '*': case '+': case ':':
      return true;
    default: return c >= '0' && c <= '9';
  }
}

template <class C> class Markdown {
 public:
  Markdown(const C* text, size_t size, Marked& out) : s_(text), n_(size), out_(out) {}

  void run() {
    size_t at = front_matter(), end = at;
    const size_t body = at;
    C fence = 0;
    size_t fence_size = 0, fence_at = 0, fence_line = 0, before = 0, before_end = 0;
    size_t code_at = kNowhere, table_at = kNowhere, table_end = kNowhere;
    bool blank = true, in_list = false;
    bool open = false;  // the line before belongs to a paragraph and is wrapped
    for (bool last = false; !last;) {
      const size_t start = end;
      size_t stop = start;
      while (stop < n_ && s_[stop] != '\n') ++stop;
      last = stop >= n_;
      end = stop + 1;
      const uint32_t first = stop > start ? s_[start] : '\n';
      if (!in_marks(first) && !is_space(first) && table_at == kNowhere && code_at == kNowhere && !fence_size) {
        in_list = in_list && !blank;
        if (open) join(start);
        open = wrapped(start, stop);
        before = start;
        before_end = stop;
        blank = false;
        continue;
      }
      while (stop > start && s_[stop - 1] == '\r') --stop;
      end = std::min(end, n_);
      size_t left = start, right = stop;
      while (left < right && is_space(s_[left])) ++left;
      while (right > left && is_space(s_[right - 1])) --right;
      if (fence_size) {
        size_t same = left;
        while (same < right && s_[same] == fence) ++same;
        if (same == right && right - left >= fence_size) {
          out_.code.push_back({fence_at, start});
          out_.skipped.push_back({fence_line, end});
          blank_out(start, end, Blank::border);
          fence_size = 0;
        }
        continue;
      }
      const bool indented = (stop - start >= 4 && s_[start] == ' ' && s_[start + 1] == ' ' && s_[start + 2] == ' ' && s_[start + 3] == ' ') ||
                            (stop > start && s_[start] == '\t');
      if (code_at != kNowhere && left < right && !indented) {
        out_.code.push_back({code_at, start});
        out_.skipped.push_back({code_at, start});
        code_at = kNowhere;
      }
      if (table_at != kNowhere && !table_row(left, right)) {
        out_.tables.push_back({table_at, table_end});
        table_at = kNowhere;
      }
      const bool goes_on = open;
      open = false;
      if (left == right) {
        blank = true;
        before_end = 0;
        continue;
      }
      if (!in_marks(s_[left]) && !indented) {
        in_list = in_list && !blank;
        if (goes_on) join(start);
        open = wrapped(start, stop);
        before = start;
        before_end = stop;
        blank = false;
        continue;
      }
      size_t opened = in_list ? left : start;
      for (int spaces = 0; !in_list && spaces < 3 && opened < stop && s_[opened] == ' '; ++spaces) ++opened;
      size_t run = opened;
      if (opened < stop && (s_[opened] == '`' || s_[opened] == '~'))
        while (run < stop && s_[run] == s_[opened]) ++run;
      // Behind the ticks that begin a listing there is no other: "```word```" is inline code.
      const bool inline_code = run < stop && s_[opened] == '`' && std::find(s_ + run, s_ + stop, '`') != s_ + stop;
      if (run - opened >= 3 && !inline_code) {
        fence = s_[opened];
        fence_size = run - opened;
        fence_at = end;
        fence_line = start;
        blank_out(start, end, Blank::border);
      } else if (indented && code_at == kNowhere && blank && !in_list) {
        code_at = start;
      } else if (code_at == kNowhere) {
        size_t level = 0;
        const size_t heading = heading_end(start, stop, level);
        const uint32_t underline = before_end && !heading ? underline_sign(start, stop) : 0;
        const bool ruled = !heading && !underline && is_rule(start, stop);
        size_t note = 0;
        if (heading) {
          out_.headings.push_back({start, stop, level, heading});
          blank_out(start, heading, Blank::border);
          blank_out(stop, end, Blank::border);
        } else if (underline) {
          while (before_end > before && s_[before_end - 1] == '\r') --before_end;
          out_.headings.push_back({before, before_end, size_t{underline == '=' ? 1u : 2u}, before});
          blank_out(start, end, Blank::border);
        } else if (ruled || (stop - start >= 3 && has(start, ":::"))) {
          blank_out(start, stop, Blank::border);
        } else if (table_row(left, right)) {
          if (table_at == kNowhere) table_at = start;
          table_end = end;
        } else if (definition(left, stop)) {
          blank_out(start, stop, Blank::plain);
        } else {
          note = note_end(left, stop);
          open = wrapped(start, stop);
        }
        const size_t item = ruled ? 0 : item_end(left, stop), quote = item ? 0 : quote_end(left, stop);
        if (item) {
          blank_out(start, item, Blank::border);
          in_list = true;
        } else if (note) {
          blank_out(start, note, Blank::border);
        } else if (open && goes_on) {
          join(start);
        }
        if (quote) {
          blank_out(start, quote, Blank::quiet);
        } else if (!item && !indented && blank) {
          in_list = false;
        }
        before = heading || underline || ruled ? 0 : start;
        before_end = heading || underline || ruled ? 0 : stop;
      }
      blank = false;
    }
    if (fence_size) {
      out_.code.push_back({fence_at, n_});
      out_.skipped.push_back({fence_line, n_});
    }
    if (code_at != kNowhere) {
      out_.code.push_back({code_at, n_});
      out_.skipped.push_back({code_at, n_});
    }
    if (table_at != kNowhere) out_.tables.push_back({table_at, table_end});
    at = body;
    for (const auto& [from, to] : out_.skipped) {
      inline_marks(at, from);
      at = std::max(at, to);
    }
    inline_marks(at, n_);
    paint();
  }

 private:
  static constexpr size_t kNowhere = SIZE_MAX;
  static constexpr C kQuiet = 0xA0;   // a blank that ends nothing
  static constexpr C kFiller = 0xAD;  // nothing, inside a word

  void blank_out(size_t start, size_t end, Blank how) {
    if (end > start) out_.parts.push_back({start, end, how});
  }
  // The line that begins at `start` goes on with the paragraph of the line before.
  void join(size_t start) { out_.joined.push_back(start - 1); }
  // Whether a line of a paragraph is wrapped where it ends: not after two blanks or a backslash.
  bool wrapped(size_t start, size_t stop) const {
    while (stop > start && s_[stop - 1] == '\r') --stop;
    if (stop == start || s_[stop - 1] == '\\') return false;
    return !(stop - start >= 2 && s_[stop - 1] == ' ' && s_[stop - 2] == ' ');
  }
  static bool inline_tag(const char* name, size_t size) {
    static const char* const names[] = {"a",    "abbr",  "b",     "bdi", "bdo",  "big",  "cite",  "code", "data",   "del",    "dfn", "em",
                                        "font", "i",     "img",   "input", "ins", "kbd",  "label", "mark", "q",      "s",      "samp", "small",
                                        "span", "strike", "strong", "sub", "sup", "time", "tt",    "u",    "var",    "wbr"};
    for (const char* known : names)
      if (std::strlen(known) == size && !std::memcmp(known, name, size)) return true;
    return false;
  }
  bool has(size_t at, const char* word) const {
    for (; *word; ++word, ++at)
      if (at >= n_ || s_[at] != static_cast<unsigned char>(*word)) return false;
    return true;
  }
  size_t over_blanks(size_t at, size_t end) const {
    while (at < end && (s_[at] == ' ' || s_[at] == '\t')) ++at;
    return at;
  }
  // Settings between two lines of dashes at the very beginning.
  size_t front_matter() {
    if (!has(0, "---")) return 0;
    size_t at = line_end(over_blanks(3, n_), false);
    for (int lines = 0; at && lines <= 200; ++lines) {
      if (has(at, "---") || has(at, "...")) {
        const size_t end = line_end(over_blanks(at + 3, n_), true);
        if (end) {
          blank_out(0, end, Blank::border);
          return end;
        }
      }
      while (at < n_ && s_[at] != '\n') ++at;
      if (at >= n_) return 0;
      ++at;
    }
    return 0;
  }
  // Place behind a line end that stands here, or (at_end) the end of the text; 0 when there is none.
  size_t line_end(size_t at, bool at_end) const {
    if (at_end && at == n_) return at;
    if (at < n_ && s_[at] == '\r') ++at;
    return at < n_ && s_[at] == '\n' ? at + 1 : 0;
  }
  bool rule(size_t& at, size_t end) const {  // :---:
    size_t p = at;
    if (p < end && s_[p] == ':') ++p;
    const size_t from = p;
    while (p < end && s_[p] == '-') ++p;
    if (p - from < 3) return false;
    if (p < end && s_[p] == ':') ++p;
    while (p < end && is_space(s_[p])) ++p;
    at = p;
    return true;
  }
  bool table_row(size_t at, size_t end) const {
    if (end - at >= 2 && s_[at] == '|' && s_[end - 1] == '|') return true;
    if (!rule(at, end)) return false;
    size_t columns = 0;
    while (at < end && s_[at] == '|') {
      size_t p = at + 1;
      while (p < end && is_space(s_[p])) ++p;
      if (p == end && columns) return true;
      if (!rule(p, end)) return false;
      at = p;
      ++columns;
    }
    return columns && at == end;
  }
  size_t heading_end(size_t at, size_t end, size_t& level) const {
    for (int spaces = 0; spaces < 3 && at < end && s_[at] == ' '; ++spaces) ++at;
    const size_t from = at;
    while (at < end && s_[at] == '#') ++at;
    level = at - from;
    if (level < 1 || level > 6) return 0;
    const size_t behind = over_blanks(at, end);
    return behind > at || at == end ? behind : 0;
  }
  uint32_t underline_sign(size_t at, size_t end) const {
    for (int spaces = 0; spaces < 3 && at < end && s_[at] == ' '; ++spaces) ++at;
    if (at >= end || (s_[at] != '=' && s_[at] != '-')) return 0;
    const C sign = s_[at];
    const size_t from = at;
    while (at < end && s_[at] == sign) ++at;
    if (sign == '-' && at - from < 2) return 0;
    return over_blanks(at, end) == end ? sign : 0;
  }
  bool definition(size_t at, size_t end) const {
    if (at + 1 >= end || s_[at] != '[' || s_[at + 1] == '^') return false;
    const size_t from = ++at;
    while (at < end && s_[at] != ']') ++at;
    if (at == from || at + 1 >= end || s_[at + 1] != ':') return false;
    const size_t behind = over_blanks(at + 2, end);
    return behind > at + 2 && behind < end && !is_space(s_[behind]);
  }
  // Place behind the mark before a footnote, whose words follow.
  size_t note_end(size_t at, size_t end) const {
    if (at + 1 >= end || s_[at] != '[' || s_[at + 1] != '^') return 0;
    const size_t from = at += 2;
    while (at < end && s_[at] != ']' && !is_space(s_[at])) ++at;
    return at > from && at + 1 < end && s_[at] == ']' && s_[at + 1] == ':' ? at + 2 : 0;
  }
  bool is_rule(size_t at, size_t end) const {
    for (int spaces = 0; spaces < 3 && at < end && s_[at] == ' '; ++spaces) ++at;
    if (at >= end || (s_[at] != '-' && s_[at] != '*' && s_[at] != '_')) return false;
    const C sign = s_[at];
    size_t count = 0;
    for (; at < end; ++at) {
      if (s_[at] == sign) ++count;
      else if (s_[at] != ' ' && s_[at] != '\t') return false;
    }
    return count >= 3;
  }
  size_t item_end(size_t at, size_t end) const {
    if (at >= end) return 0;
    if (s_[at] == '-' || s_[at] == '*' || s_[at] == '+') {
      ++at;
    } else {
      size_t digits = 0;
      while (at < end && digits < 10 && Py_UNICODE_ISDECIMAL(static_cast<Py_UCS4>(s_[at]))) ++at, ++digits;
      if (digits < 1 || digits > 9 || at >= end || (s_[at] != '.' && s_[at] != ')')) return 0;
      ++at;
    }
    return at < end && (s_[at] == ' ' || s_[at] == '\t') ? at + 1 : 0;
  }
  size_t quote_end(size_t at, size_t end) const {
    size_t behind = 0;
    while (at < end && s_[at] == '>') {
      ++at;
      if (at < end && is_space(s_[at])) ++at;
      behind = at;
    }
    return behind;
  }

  static bool is_word(uint32_t c) { return c == '_' || is_alnum(c); }
  static bool is_alnum(uint32_t c) {
    if (c < 128) return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    return Py_UNICODE_ISALNUM(static_cast<Py_UCS4>(c));
  }
  static bool is_letter(uint32_t c) { return (c | 32) >= 'a' && (c | 32) <= 'z' && c < 128; }
  static bool is_punctuation(uint32_t c) { return c > 32 && c < 127 && !is_alnum(c); }
  // Whether an empty line begins behind the line end at `p`; then the place of the next line end.
  size_t empty_line(size_t p, size_t end) const {
    for (++p; p < end && (s_[p] == ' ' || s_[p] == '\t' || s_[p] == '\r');) ++p;
    return p < end && s_[p] == '\n' ? p : 0;
  }

  // Inline marks from `at` up to `end`, which is the end of what can be seen.
  void inline_marks(size_t at, size_t end) {
    if (at >= end) return;
    find_ticks(at, end);
    size_t tick = 0;
    while (at < end) {
      const C c = s_[at];
      switch (c) {
        case '\\':
          if (at + 1 < end && is_punctuation(s_[at + 1])) {
            mark(at, at + 1);
            ++at;
          }
          break;
        case '`': {
          while (tick < ticks_.size() && ticks_[tick].start < at) ++tick;
          const bool known = tick < ticks_.size() && ticks_[tick].start == at;
          const size_t start = at;
          while (at < end && s_[at] == '`') ++at;
          mark(start, at);
          if (known && ticks_[tick].close != kNowhere) {  // signs in code stand for themselves
            const Ticks& close = ticks_[ticks_[tick].close];
            mark(close.start, close.start + close.size);
            at = close.start + close.size;
          }
          continue;
        }
        case '<':
          if (const size_t behind = angle(at, end)) {
            at = behind;
            continue;
          }
          break;
        case '[': {
          if (const size_t behind = note_mark(at, end)) {
            mark(at, behind);
            at = behind;
            continue;
          }
          brackets_.push_back(marks_.size());
          mark(at, at + 1, Mark::apart);
          break;
        }
        case '!':
          if (at + 1 < end && s_[at + 1] == '[') {
            brackets_.push_back(marks_.size());
            mark(at, at + 2, Mark::apart);
            ++at;
          }
          break;
        case ']': {
          const size_t opened = brackets_.empty() ? kNowhere : brackets_.back();
          if (!brackets_.empty()) brackets_.pop_back();
          if (const size_t behind = target_end(at + 1, end)) {
            mark(at, behind);
            if (opened != kNowhere) marks_[opened].how = Mark::inside;
            at = behind;
            continue;
          }
          break;
        }
        case '{':
          if (at + 1 < end && (s_[at + 1] == '#' || s_[at + 1] == '.' || s_[at + 1] == ':')) {
            size_t p = at + 2;
            while (p < end && s_[p] != '{' && s_[p] != '}' && s_[p] != '\n') ++p;
            if (p < end && s_[p] == '}') {
              mark(at, p + 1);
              at = p;
            }
          }
          break;
        case '*':
        case '_':
        case '~': {
          const size_t start = at;
          while (at < end && s_[at] == c) ++at;
          mark(start, at, Mark::run);
          pair(marks_.size() - 1, runs_[c == '*' ? 0 : c == '_' ? 1 : 2], end);
          continue;
        }
        case '\n':
          if (const size_t next = empty_line(at, end)) {
            finish_paragraph();
            at = next;
            continue;
          }
          break;
        default: break;
      }
      ++at;
    }
    finish_paragraph();
  }
  void mark(size_t start, size_t end, Mark::How how = Mark::inside) { marks_.push_back({start, end, how}); }

  // Inline code goes from some ticks to as many, inside a paragraph.
  void find_ticks(size_t at, size_t end) {
    ticks_.clear();
    size_t first = 0;  // of the paragraph
    auto close = [&] {
      if (ticks_.size() - first > 1) {
        last_.clear();
        for (size_t i = ticks_.size(); i-- > first;) {
          auto [place, fresh] = last_.try_emplace(ticks_[i].size, i);
          if (!fresh) {
            ticks_[i].close = place->second;
            place->second = i;
          }
        }
      }
      first = ticks_.size();
    };
    while (at < end) {
      if (s_[at] == '`') {
        const size_t start = at;
        while (at < end && s_[at] == '`') ++at;
        if (!start || s_[start - 1] != '\\') ticks_.push_back({start, at - start, kNowhere});
      } else if (s_[at] == '\n') {
        const size_t next = empty_line(at, end);
        if (next) close();
        at = next ? next : at + 1;
      } else {
        ++at;
      }
    }
    close();
  }
  // Signs of emphasis go away in pairs, those next to the words first. One before a blank begins nothing, one behind a
  // blank ends nothing; low lines do neither inside a word; waves go by two. By the rule of three of CommonMark the single
  // stars in **a*b*c** are a pair.
  void pair(size_t number, std::vector<size_t>& waiting, size_t end) {
    Mark& run = marks_[number];
    const C sign = s_[run.start];
    size_t left = run.end - run.start;
    const uint32_t before = run.start ? s_[run.start - 1] : ' ', after = run.end < end ? s_[run.end] : ' ';
    bool opens = !is_space(after), closes = !is_space(before);
    if (sign == '_') {
      opens = opens && !is_alnum(before);
      closes = closes && !is_alnum(after);
      if (left > 1 && !is_alnum(before) && !is_alnum(after) && !opens && !closes) run.left = static_cast<uint32_t>(left);  // a line to be filled in
    }
    if (sign == '~' && left != 2) return;
    run.both = opens && closes;
    const size_t size = left;
    while (closes && left && !waiting.empty()) {
      Mark& other = marks_[waiting.back()];
      const size_t others = other.end - other.start;
      if ((run.both || other.both) && (size + others) % 3 == 0 && size % 3) break;
      const size_t free = others - other.left - other.right, pairs = std::min(free, left);
      run.left += static_cast<uint32_t>(pairs);
      other.right += static_cast<uint32_t>(pairs);
      left -= pairs;
      if (pairs == free) waiting.pop_back();
    }
    if (opens && left) waiting.push_back(number);
  }
  // Blanks out the marks of a paragraph. Between two letters nothing stands in their place: they belong to one word.
  void finish_paragraph() {
    std::vector<Part>& parts = out_.parts;
    const size_t first = parts.size();
    for (const Mark& mark : marks_) {
      // Until it is known what is between letters, "plain" is what parts words.
      if (mark.how != Mark::run)
        blank_out(mark.start, mark.end, mark.how == Mark::border ? Blank::border : mark.how == Mark::apart ? Blank::plain : Blank::quiet);
      blank_out(mark.start, mark.start + mark.left, Blank::quiet);
      blank_out(mark.end - mark.right, mark.end, Blank::quiet);
    }
    for (size_t i = first, next; i < parts.size(); i = next) {
      bool joined = true;
      for (next = i; next < parts.size() && (next == i || parts[next].start == parts[next - 1].end); ++next)
        joined = joined && parts[next].how == Blank::quiet;
      const size_t start = parts[i].start, stop = parts[next - 1].end;
      joined = joined && start && stop < n_ && is_word(s_[start - 1]) && is_word(s_[stop]);
      for (size_t k = i; k < next; ++k)
        if (parts[k].how != Blank::border) parts[k].how = joined ? Blank::filler : Blank::quiet;
    }
    marks_.clear();
    brackets_.clear();
    for (auto& waiting : runs_) waiting.clear();
  }

  // Marks a comment, an address or a tag that begins at `at`; gives the place behind it, 0 when there is none.
  size_t angle(size_t at, size_t end) {
    size_t p = at + 1;
    if (p + 2 < end && s_[p] == '!' && s_[p + 1] == '-' && s_[p + 2] == '-') {
      size_t behind = end;
      for (p += 3; p + 2 < end; ++p)
        if (s_[p] == '-' && s_[p + 1] == '-' && s_[p + 2] == '>') {
          behind = p + 3;
          break;
        }
      mark(at, behind, Mark::border);
      return behind;
    }
    if (const size_t behind = address_end(p, end)) {
      mark(at, at + 1);
      mark(behind - 1, behind);
      return behind;
    }
    if (p < end && s_[p] == '/') ++p;
    if (p >= end || !is_letter(s_[p])) return 0;
    char name[8];
    size_t size = 0;
    for (; p < end && (is_letter(s_[p]) || (s_[p] >= '0' && s_[p] <= '9') || s_[p] == '-'); ++p, ++size)
      if (size < sizeof name) name[size] = static_cast<char>(s_[p] >= 'A' && s_[p] <= 'Z' ? s_[p] + 32 : s_[p]);
    p = attributes_end(p, end);
    if (p < end && s_[p] == '/') ++p;
    if (p >= end || s_[p] != '>') return 0;
    mark(at, p + 1, size <= sizeof name && inline_tag(name, size) ? Mark::inside : Mark::border);
    return p + 1;
  }
  // <scheme:address> or <name@host>, from behind the sign.
  size_t address_end(size_t from, size_t end) const {
    size_t p = from;
    if (p < end && is_letter(s_[p])) {
      for (++p; p < end && p - from < 33 && (is_letter(s_[p]) || (s_[p] >= '0' && s_[p] <= '9') || s_[p] == '+' || s_[p] == '.' || s_[p] == '-');) ++p;
      if (p - from >= 2 && p - from <= 32 && p < end && s_[p] == ':') {
        while (p < end && s_[p] != '<' && s_[p] != '>' && !is_space(s_[p])) ++p;
        if (p < end && s_[p] == '>') return p + 1;
      }
    }
    p = from;
    while (p < end && (is_word(s_[p]) || s_[p] == '.' || s_[p] == '+' || s_[p] == '-')) ++p;
    if (p == from || p >= end || s_[p] != '@') return 0;
    const size_t host = ++p;
    while (p < end && (is_word(s_[p]) || s_[p] == '.' || s_[p] == '-')) ++p;
    return p > host && p < end && s_[p] == '>' ? p + 1 : 0;
  }
  // Place behind the attributes of a tag and the blanks after them.
  size_t attributes_end(size_t p, size_t end) const {
    auto blanks = [&](size_t q) {
      while (q < end && is_space(s_[q])) ++q;
      return q;
    };
    for (;;) {
      const size_t from = blanks(p);
      if (from == p || from >= end || !(is_letter(s_[from]) || s_[from] == '_' || s_[from] == ':')) return from;
      for (p = from + 1; p < end && (is_word(s_[p]) || s_[p] == '.' || s_[p] == ':' || s_[p] == '-');) ++p;
      size_t q = blanks(p);
      if (q >= end || s_[q] != '=') continue;
      q = blanks(q + 1);
      if (q >= end) return p;
      const C quote = s_[q];
      if (quote == '"' || quote == '\'') {
        for (++q; q < end && s_[q] != quote && s_[q] != '<';) ++q;
        if (q >= end || s_[q] != quote) return p;
        p = q + 1;
      } else {
        const size_t value = q;
        while (q < end && !is_space(s_[q]) && s_[q] != '"' && s_[q] != '\'' && s_[q] != '=' && s_[q] != '<' && s_[q] != '>' && s_[q] != '`') ++q;
        if (q == value) return p;
        p = q;
      }
    }
  }
  size_t note_mark(size_t at, size_t end) const {
    if (at + 1 >= end || s_[at + 1] != '^') return 0;
    size_t p = at + 2;
    while (p < end && s_[p] != ']' && s_[p] != '[' && !is_space(s_[p])) ++p;
    return p > at + 2 && p < end && s_[p] == ']' ? p + 1 : 0;
  }
  // Place behind the target of a link, which stands behind its words.
  size_t target_end(size_t p, size_t end) const {
    if (p >= end) return 0;
    if (s_[p] == '[') {
      for (++p; p < end && s_[p] != ']' && s_[p] != '\n';) ++p;
      return p < end && s_[p] == ']' ? p + 1 : 0;
    }
    if (s_[p] != '(') return 0;
    auto skip = [&] {
      while (p < end && s_[p] != '(' && s_[p] != ')' && s_[p] != '\n') ++p;
    };
    for (++p;;) {
      skip();
      if (p >= end || s_[p] == '\n') return 0;
      if (s_[p] == ')') return p + 1;
      ++p;
      skip();
      if (p >= end || s_[p] != ')') return 0;
      ++p;
    }
  }

  // Blanks and borders in place of what is marked; line ends stay.
  void paint() {
    if (out_.parts.empty() && out_.joined.empty()) return;
    std::sort(out_.parts.begin(), out_.parts.end(), [](const Part& a, const Part& b) {
      return a.start != b.start ? a.start < b.start : a.end != b.end ? a.end < b.end : a.how < b.how;
    });
    out_.masked.assign(reinterpret_cast<const char*>(s_), n_ * sizeof(C));
    C* to = reinterpret_cast<C*>(&out_.masked[0]);
    size_t at = 0;
    for (const Part& part : out_.parts) {
      if (part.end <= at) continue;
      for (size_t i = std::max(part.start, at); i < part.end; ++i)
        to[i] = s_[i] == '\n' || (part.how == Blank::border && i - part.start < 2) ? C{'\n'} : sign_of(part.how);
      at = part.end;
    }
    for (size_t at : out_.joined)
      for (to[at++] = kQuiet; at < n_ && (to[at] == ' ' || to[at] == '\t'); ++at) to[at] = kQuiet;
  }

  static C sign_of(Blank how) { return how == Blank::quiet ? kQuiet : how == Blank::filler ? kFiller : C{' '}; }

  struct Ticks {
    size_t start, size, close;
  };

  const C* s_;
  size_t n_;
  Marked& out_;
  std::vector<Mark> marks_;                  // of the paragraph
  std::vector<size_t> brackets_, runs_[3];  // not closed yet, by their numbers among the marks
  std::vector<Ticks> ticks_;
  std::unordered_map<size_t, size_t> last_;
};

nb::object pair_list(const std::vector<std::pair<size_t, size_t>>& spans) {
  nb::list out;
  for (const auto& [start, end] : spans) out.append(nb::make_tuple(start, end));
  return out;
}

template <class Work> void with_text(const Text& text, Work work) {
  switch (text.kind) {
    case 1: work(static_cast<const uint8_t*>(text.data)); break;
    case 2: work(static_cast<const uint16_t*>(text.data)); break;
    default: work(static_cast<const uint32_t*>(text.data)); break;
  }
}

// ---- borders and signs

struct Signs {
  uint8_t sign[65536];
  Signs() {
    for (uint32_t c = 0; c < 65536; ++c) sign[c] = told(c);
  }
  static bool told(uint32_t c) {
    if (c == '_' || Py_UNICODE_ISALNUM(static_cast<Py_UCS4>(c)) || is_space(c)) return false;
    switch (c) {
      case '.': case ',': case ';': case ':': case '!': case '?': case '\'': case '"': case '(': case ')': case '-':
      case 0x201C: case 0x201D: case 0x2192: case 0x2013: case 0x2014: case 0x2026: case 0x2019: case 0x2018: case 0xAB:
      case 0xBB: case 0xAD:
        return false;
      default: return true;
    }
  }
  bool operator()(uint32_t c) const { return c < 65536 ? sign[c] : told(c); }
};

enum Border : uint8_t { kColon = 1, kSentence = 2, kLine = 4, kBlock = 8, kWrap = 16 };

// What ends between two words. Nothing but a block ends before a small letter, or before a sign that belongs to the word
// before it; a line is only wrapped there.
template <class C> uint8_t border_in(const C* s, size_t size, size_t from, size_t to) {
  size_t known_from = 1, known = 0;  // blanks are gone over once
  auto goes_on = [&](size_t q) {
    if (q < known_from || q > known) {
      known_from = q;
      while (q < size && is_space(s[q])) ++q;
      known = q;
    }
    if (known >= size) return false;
    const uint32_t c = s[known];
    return (c >= 'a' && c <= 'z') || (c >= 0x430 && c <= 0x44F) || c == 0x451 || c == ',' || c == ')' || c == ']' || c == 0xBB ||
           c == 0x201D;
  };
  auto closing = [](uint32_t c) {
    return c == '"' || c == '\'' || c == 0xBB || c == 0x201D || c == 0x2019 || c == ')' || c == ']';
  };
  uint8_t out = 0;
  for (size_t p = from; p < to; ++p) {
    const uint32_t c = s[p];
    switch (c) {
      case '\t': out |= kColon; break;
      case ' ':
        if (p + 1 < size && s[p + 1] == ' ' && !goes_on(p + 2)) out |= kColon;
        break;
      case '\n':
        for (size_t q = p + 1; !(out & kBlock) && q < size && is_space(s[q]); ++q)
          if (s[q] == '\n') out |= kBlock;
        out |= goes_on(p + 1) ? kWrap : kLine;
        break;
      case '.': case '!': case '?': case 0x2026: case ':': case ';': {
        size_t q = p + 1;
        while (q < size && closing(s[q])) ++q;
        if (q < size && is_space(s[q]) && !goes_on(q)) out |= c == ':' || c == ';' ? kColon : kSentence;
        break;
      }
      default: break;
    }
  }
  return out;
}

// ---- what can repeat

// Finds the windows of `length` tokens that occur again and marks where they begin. Windows are shared out among the
// parts by their hashes, so that equal ones meet in one part and parts never touch the same byte.
class Sieve {
 public:
  Sieve(const uint32_t* s, size_t count, size_t length, size_t part, size_t parts, uint8_t* begins)
      : s_(s), windows_(count - length + 1), length_(length), part_(part), parts_(parts), begins_(begins) {}

  void run() {
    table_.reset(1 << 12);
    // First a sieve of bits: most windows are the only ones of their bit.
    int bits = 10;
    while ((size_t{1} << bits) < windows_ / parts_ * 8 && bits < 40) ++bits;
    const int shift = 64 - bits;
    std::vector<uint64_t> once(size_t{1} << (bits - 6), 0), twice(size_t{1} << (bits - 6), 0);
    walk([&](uint64_t h) { __builtin_prefetch(&once[h >> shift >> 6], 1); },
         [&](size_t, uint64_t h) {
           const uint64_t at = h >> shift, bit = uint64_t{1} << (at & 63);
           twice[at >> 6] |= once[at >> 6] & bit;
           once[at >> 6] |= bit;
         });
    std::vector<uint64_t>().swap(once);
    // Then the rest by their tokens: the first window of each kind, marked once it is met again.
    walk([&](uint64_t h) { __builtin_prefetch(&twice[h >> shift >> 6]); },
         [&](size_t i, uint64_t h) {
           const uint64_t bit = h >> shift;
           if (twice[bit >> 6] >> (bit & 63) & 1) meet(i, h);
         });
  }

 private:
  struct Cell {
    uint32_t above, tag;  // one above the place, 0: free; other bits of the hash, so that few windows are compared in vain
  };
  static constexpr uint64_t kFactor = 0x9E3779B97F4A7C15ull;

  static uint64_t mixed(uint64_t hash) {
    hash ^= hash >> 32;
    hash *= 0xBF58476D1CE4E5B9ull;
    return hash ^ hash >> 29;
  }
  // Calls work(window, hash) for all windows of this part; they come in blocks, so that memory can be fetched ahead.
  template <class Fetch, class Work> void walk(Fetch fetch, Work work) {
    constexpr size_t kBlock = 64;
    uint64_t hashes[kBlock], hash = 0, top = 1;
    uint32_t places[kBlock];
    size_t waiting = 0;
    for (size_t i = 0; i < length_; ++i) top *= kFactor;
    for (size_t i = 0; i + 1 < length_; ++i) hash = hash * kFactor + s_[i] + 1;
    for (size_t i = 0; i < windows_; ++i) {
      hash = hash * kFactor + s_[i + length_ - 1] + 1;
      if (i) hash -= (uint64_t{s_[i - 1]} + 1) * top;
      const uint64_t value = mixed(hash);
      if (parts_ > 1 && (value & 63) * parts_ >> 6 != part_) continue;
      hashes[waiting] = value;
      places[waiting] = static_cast<uint32_t>(i);
      fetch(value);
      if (++waiting < kBlock) continue;
      for (size_t k = 0; k < waiting; ++k) work(places[k], hashes[k]);
      waiting = 0;
    }
    for (size_t k = 0; k < waiting; ++k) work(places[k], hashes[k]);
  }
  void meet(size_t i, uint64_t h) {
    const uint32_t tag = static_cast<uint32_t>(h >> 8);
    Cell& cell = table_.at(h >> 6, [&](const Cell& other) {
      return other.above && !(other.tag == tag && std::equal(s_ + i, s_ + i + length_, s_ + other.above - 1));
    });
    if (cell.above) {
      begins_[i] = begins_[cell.above - 1] = 1;
      return;
    }
    cell = {static_cast<uint32_t>(i + 1), tag};
    if (++kinds_ * 2 > table_.room())
      table_.grow([](const Cell& other) { return other.above != 0; }, [&](const Cell& other) { return hash_of(other.above - 1) >> 6; });
  }
  uint64_t hash_of(size_t i) const {
    uint64_t hash = 0;
    for (size_t k = 0; k < length_; ++k) hash = hash * kFactor + s_[i + k] + 1;
    return mixed(hash);
  }

  const uint32_t* s_;
  size_t windows_, length_, part_, parts_;
  uint8_t* begins_;
  OpenTable<Cell> table_;
  size_t kinds_ = 0;
};

}  // namespace

nb::list read_texts(nb::sequence paths, size_t limit, int64_t threads) {
  std::vector<std::string> names;
  for (nb::handle path : paths) {
    char* name = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(path.ptr(), &name, &size)) throw nb::python_error();
    names.emplace_back(name, static_cast<size_t>(size));
  }
  std::vector<std::string> found(names.size());
  std::vector<uint8_t> good(names.size(), 0);
  {
    nb::gil_scoped_release release;
    each_item(names.size(), threads, [&](size_t i) {
      good[i] = names[i].find('\0') == std::string::npos && read_whole(names[i].c_str(), limit, found[i]) && is_plain(found[i]);
      if (!good[i]) std::string().swap(found[i]);
    });
  }
  nb::list out;
  for (size_t i = 0; i < names.size(); ++i) {
    PyObject* text = good[i] ? PyUnicode_DecodeUTF8(found[i].data(), static_cast<Py_ssize_t>(found[i].size()), "strict") : nullptr;
    if (good[i] && !text) {
      if (!PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) throw nb::python_error();
      PyErr_Clear();
    }
    out.append(text ? nb::steal(text) : nb::none());
    std::string().swap(found[i]);
  }
  return out;
}

nb::list mark_markdown(nb::handle sequence, int64_t threads) {
  Texts texts(sequence);
  std::vector<Marked> found(texts.items.size());
  {
    nb::gil_scoped_release release;
    each_item(found.size(), threads, [&](size_t i) {
      with_text(texts.items[i], [&](auto* text) {
        using C = std::remove_const_t<std::remove_pointer_t<decltype(text)>>;
        Markdown<C>(text, texts.items[i].size, found[i]).run();
      });
    });
  }
  nb::list out;
  for (size_t i = 0; i < found.size(); ++i) {
    Marked& marked = found[i];
    nb::object masked = nb::none();
    if (!marked.masked.empty()) {
      masked = nb::steal(PyUnicode_FromKindAndData(texts.items[i].kind, marked.masked.data(), static_cast<Py_ssize_t>(texts.items[i].size)));
      if (!masked.is_valid()) throw nb::python_error();
    }
    nb::list headings;
    for (const Heading& h : marked.headings) headings.append(nb::make_tuple(h.start, h.end, h.level, h.from));
    out.append(nb::make_tuple(masked, headings, pair_list(marked.code), pair_list(marked.tables)));
    marked = Marked();
  }
  return out;
}

Array<uint32_t> NumberTable::number(View<uint64_t> hashes) {
  Buffer<uint32_t> out;
  {
    nb::gil_scoped_release release;
    std::lock_guard<std::mutex> lock(mutex_);
    out.resize(hashes.size());
    for (size_t i = 0; i < hashes.size(); ++i) out[i] = numbers_.number(hashes.data()[i]);
    count_ = static_cast<uint32_t>(numbers_.size());
  }
  return own(std::move(out));
}

nb::tuple word_edges(nb::handle sequence, View<uint32_t> starts, View<uint32_t> ends, View<uint64_t> offsets, int64_t threads) {
  Texts texts(sequence);
  check_offsets(offsets, starts.size());
  if (offsets.size() != texts.items.size() + 1) throw nb::value_error("one stretch of words is needed for each text");
  if (ends.size() != starts.size()) throw nb::value_error("one end is needed for each start");
  const uint32_t *from = starts.data(), *to = ends.data();
  for (size_t f = 0; f < texts.items.size(); ++f)
    check_words(starts, ends, offsets.data()[f], offsets.data()[f + 1], texts.items[f].size);
  Buffer<uint8_t> borders;
  Buffer<uint32_t> at_start, at_end;
  borders.resize(starts.size());
  at_start.resize(starts.size());
  at_end.resize(starts.size());
  {
    nb::gil_scoped_release release;
    static const Signs signs;
    each_item(texts.items.size(), threads, [&](size_t f) {
      const size_t first = offsets.data()[f], last = offsets.data()[f + 1], size = texts.items[f].size;
      with_text(texts.items[f], [&](auto* text) {
        uint32_t count = 0;
        size_t place = 0;
        for (size_t i = first; i < last; ++i) {
          borders[i] = i == first ? static_cast<uint8_t>(kBlock) : border_in(text, size, to[i - 1], from[i]);
          for (; place < from[i]; ++place) count += signs(text[place]);
          at_start[i] = count;
          for (; place < to[i]; ++place) count += signs(text[place]);
          at_end[i] = count;
        }
      });
    });
  }
  return nb::make_tuple(own(std::move(borders)), own(std::move(at_start)), own(std::move(at_end)));
}

Array<uint8_t> repeated(View<uint32_t> ids, size_t length, int64_t threads) {
  if (ids.size() >= size_t{1} << 31) throw nb::value_error("more than 2147483647 tokens cannot be looked at at once");
  if (!length) throw nb::value_error("a run has at least one token");
  Buffer<uint8_t> out;
  out.resize(ids.size());
  {
    nb::gil_scoped_release release;
    const size_t count = ids.size();
    if (count >= size_t{1} << 18) Pool::clear();  // what tokenising a long text left
    std::fill(out.begin(), out.end(), uint8_t{0});
    if (count >= length) {
      // More parts than threads: what is held at a time is the smaller.
      const size_t parts = count < size_t{1} << 18 ? 1 : std::min<size_t>(64, 4 * thread_count(threads));
      each_item(parts, threads, [&](size_t part) { Sieve(ids.data(), count, length, part, parts, out.data).run(); });
      size_t reach = 0;
      for (size_t i = 0; i < count; ++i) {
        if (out[i]) reach = i + length;
        out[i] = i < reach;
      }
    }
  }
  return own(std::move(out));
}

}  // namespace doublet
