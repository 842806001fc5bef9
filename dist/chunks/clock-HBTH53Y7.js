import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{steadyNow,systemClock}from"./chunk-2VXEE7FJ.js";import"./chunk-K5Y2IR4E.js";export{steadyNow,systemClock};
