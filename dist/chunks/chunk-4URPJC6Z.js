import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
var SettingsError=class extends Error{constructor(problems){super(problems.length===1?`Invalid input, nothing was sent: ${problems[0]??""}`:`${problems.length} invalid inputs, nothing was sent:
${problems.map(problem=>`- ${problem}`).join(`
`)}`);this.problems=problems}problems;name="SettingsError"};export{SettingsError};
