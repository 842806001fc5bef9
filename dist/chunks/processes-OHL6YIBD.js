import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{Processes,bootId,endGroup,endLeftoverGroup,isSameProcess,readStartTime}from"./chunk-GTOTXFID.js";import"./chunk-TPCAH4P3.js";import"./chunk-K5Y2IR4E.js";export{Processes,bootId,endGroup,endLeftoverGroup,isSameProcess,readStartTime};
