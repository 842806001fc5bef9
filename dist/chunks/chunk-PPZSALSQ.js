import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
var ROLES=["admin","member","viewer"];export{ROLES};
