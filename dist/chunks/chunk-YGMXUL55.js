import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
var ClusterError=class extends Error{constructor(message,status,options){super(message,options);this.status=status;this.retryAfterMs=options?.retryAfterMs}status;name="ClusterError";retryAfterMs};export{ClusterError};
