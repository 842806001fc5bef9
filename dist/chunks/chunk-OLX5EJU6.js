import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
var DOCUMENT_FILE="baseline.json.gz";export{DOCUMENT_FILE};
