import { afterAll } from '@jest/globals'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from './remove-folder.js'

// Each test file has a registry of tools of its own: a command that another one starts would end what its tests leave.
const folder = mkdtempSync(join(tmpdir(), 'loadgate-state-'))
process.env.XDG_STATE_HOME = folder
afterAll(() => removeFolder(folder))
