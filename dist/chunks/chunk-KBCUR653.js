import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
function asSentence(text){return/[.!?]$/.test(text)?text:`${text}.`}function capitalize(text){return text.charAt(0).toUpperCase()+text.slice(1)}function joinClauses(clauses){return clauses.map((text,i)=>i<clauses.length-1?text.replace(/\.$/,""):text).join("; ")}export{asSentence,capitalize,joinClauses};
