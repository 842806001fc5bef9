import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{matchesPieces}from"./chunk-A2MAOSSK.js";function matchesPattern({pieces},value){return matchesPieces(pieces,value)}export{matchesPattern};
