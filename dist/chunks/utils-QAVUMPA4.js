import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{GitHub,context,defaults,getOctokitOptions,getUserAgentWithOrchestrationId}from"./chunk-KJTK5YRY.js";import"./chunk-VHAHO3YO.js";import"./chunk-K5Y2IR4E.js";export{GitHub,context,defaults,getOctokitOptions,getUserAgentWithOrchestrationId};
