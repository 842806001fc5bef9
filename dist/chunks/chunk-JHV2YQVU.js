import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
var RequestError=class extends Error{constructor(statusCode,message){super(message);this.statusCode=statusCode;this.name="RequestError"}statusCode};function refuseAll(problems){return new RequestError(422,problems.join("; "))}var ToolError=class extends Error{constructor(message,options){super(message,options),this.name="ToolError"}};function messageOf(thrown){return thrown instanceof Error?thrown.message:String(thrown)}export{RequestError,refuseAll,ToolError,messageOf};
