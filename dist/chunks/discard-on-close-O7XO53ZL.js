import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import"./chunk-K5Y2IR4E.js";import{rm}from"node:fs/promises";function discardOnClose(service,dataDir){return{...service,close:async({keepSamplesIn,...end}={})=>{await service.close(end),keepSamplesIn!==void 0&&await service.keepSamples(keepSamplesIn),await rm(dataDir,{recursive:!0,force:!0})}}}export{discardOnClose};
