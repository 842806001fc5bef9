import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{REHEARSAL,cutToBytes,escapeMarkdown}from"./chunk-ZNKLBA2W.js";var VERDICT_SIGNS={passed:"\u2705",failed:"\u274C",inconclusive:"\u26A0\uFE0F","timed-out":"\u23F1\uFE0F",error:"\u{1F4A5}",cancelled:"\u{1F6AB}",skipped:"\u23ED\uFE0F",detached:"\u{1F4E4}"};function rehearsalMark(rehearsal){return rehearsal?` (${REHEARSAL})`:""}var MOST_CELL_BYTES=1e3;function foreign(text,mostBytes=MOST_CELL_BYTES){let shown=cutToBytes(text,mostBytes);return escapeMarkdown(shown)+(shown===text?"":"\u2026")}function table(headings,rows){let names=headings.map(heading=>heading.replace(/:$/,"")),rule=headings.map(heading=>heading.endsWith(":")?"---:":"---");return[names,rule,...rows].map(cells=>`| ${cells.join(" | ")} |`).join(`
`)}function joinSections(sections){return sections.filter(section=>section!=="").join(`

`)}function warningBox(lines){return lines.map(line=>`> \u26A0\uFE0F ${foreign(line)}`).join(`
>
`)}function fold(title,content){return content===""?"":`<details><summary>${title}</summary>

${content}

</details>`}export{VERDICT_SIGNS,rehearsalMark,foreign,table,joinSections,warningBox,fold};
