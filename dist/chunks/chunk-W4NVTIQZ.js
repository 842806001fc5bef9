import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{cutToBytes,escapeHtml,escapeMarkdown,replaceControls}from"./chunk-S6VLGGZU.js";var MOST_CELL_BYTES=1e3;function foreign(text,mostBytes=MOST_CELL_BYTES){let shown=cutToBytes(text,mostBytes);return escapeMarkdown(shown)+(shown===text?"":"\u2026")}var MOST_BLOCK_BYTES=2e4;function foreignParagraphs(text){let[first="",...others]=text.split(`

`);if(others.length===0)return foreign(text);let lines=cutToBytes(others.join(`

`).trimEnd(),MOST_BLOCK_BYTES).split(`
`).map(line=>escapeHtml(replaceControls(line)));return joinSections([foreign(first),`<pre>
${lines.join(`
`)}
</pre>`])}function table(headings,rows){let names=headings.map(heading=>heading.replace(/:$/,"")),rule=headings.map(heading=>heading.endsWith(":")?"---:":"---");return[names,rule,...rows].map(cells=>`| ${cells.join(" | ")} |`).join(`
`)}function joinSections(sections){return sections.filter(section=>section!=="").join(`

`)}function warningBox(lines){return lines.map(line=>`> \u26A0\uFE0F ${foreign(line)}`).join(`
>
`)}function fold(title,content){return content===""?"":`<details><summary>${title}</summary>

${content}

</details>`}export{foreign,foreignParagraphs,table,joinSections,warningBox,fold};
