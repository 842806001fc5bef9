import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{ClusterError}from"./chunk-YGMXUL55.js";function isUnclear(error){if(!(error instanceof ClusterError))return!1;let{status}=error;return status===void 0||status<400||status===408||status===429||status>=500}function isBusy(error){return error instanceof ClusterError&&error.status!==void 0&&(error.status===429||error.status>=500)}function isRefusal(error){return error instanceof ClusterError&&(error.status===401||error.status===403)}export{isUnclear,isBusy,isRefusal};
