"use strict";
for (const table of document.querySelectorAll("table.works")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => {
    const value = (row) => {
      const cell = row.cells[column];
      return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
    };
    const rows = [...table.tBodies[0].rows];
    const numbers = typeof value(rows[0]) === "number";
    const before = head.getAttribute("aria-sort");
    const turn = (before ? before === "ascending" : numbers && column > 0) ? -1 : 1;
    rows.sort((a, b) => {
      const x = value(a), y = value(b);
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
      return turn * order;
    });
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", turn < 0 ? "descending" : "ascending");
    table.tBodies[0].append(...rows);
  }));
}
