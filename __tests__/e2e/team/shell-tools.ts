import { spawnSync } from 'node:child_process'

const missing = ['curl', 'jq'].filter((name) => spawnSync(name, ['--version']).error !== undefined)

/** Whether the tests of shell scripts are skipped, aloud, for want of curl or jq; never with LOADGATE_REQUIRE_TOOLS. */
export const lacksShellTools = missing.length > 0 && process.env.LOADGATE_REQUIRE_TOOLS !== '1'
if (lacksShellTools) console.warn(`Skipped: ${missing.join(' and ')} cannot be run here.`)
