import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
function asSentence(text){return/[.!?]$/.test(text)?text:`${text}.`}export{asSentence};
