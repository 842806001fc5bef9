import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{createLog,defuse,isSpeaking,speak}from"./chunk-UB2QKUQZ.js";import"./chunk-X3FPZSTK.js";import"./chunk-K5Y2IR4E.js";export{createLog,defuse,isSpeaking,speak};
