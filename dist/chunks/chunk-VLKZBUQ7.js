import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
function withRun(node,run){return{env:node.env,memoryBytes:node.memoryBytes,...node.outageMs===void 0?{}:{outageMs:node.outageMs},pathOf:file=>node.pathOf(file),find:search=>node.find(search),run}}var NodeError=class extends Error{name="NodeError"};export{withRun,NodeError};
