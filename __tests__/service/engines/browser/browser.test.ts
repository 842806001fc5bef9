import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBrowserEngine, findBrowser } from '../../../../src/service/engines/browser/browser.js'
import { programsHere } from '../../../../src/service/engines/program-source.js'
import type { PlanRequest } from '../../../../src/service/engines/engine.js'
import { Processes } from '../../../../src/service/nodes/machine/processes.js'
import { writeScript } from '../../stand-in.js'
import { removeFolder } from '../../../support/remove-folder.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-browser-test-'))
})
afterEach(() => removeFolder(folder))

const ports = (env: NodeJS.ProcessEnv) => ({
  env,
  processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
  log: () => undefined,
  signal: new AbortController().signal
})

function install(name: string, ...lines: string[]): string {
  const file = join(folder, name)
  writeScript(file, lines.length > 0 ? lines : [`echo "Chromium 1.2.3.4 of ${name}"`])
  return file
}

describe('finding a browser', () => {
  test('the leanest on the path', async () => {
    install('google-chrome')
    const lean = install('chromium-headless-shell')
    install('chromium')
    expect(await findBrowser(programsHere(ports({ PATH: folder })))).toEqual({
      ...{ path: lean, version: 'Chromium 1.2.3.4 of chromium-headless-shell', origin: 'on the PATH' }
    })
  })

  test('CHROME wins over the path, and the path over CHROME_BIN', async () => {
    const own = install('my-browser')
    const known = install('google-chrome')
    const found = async (env: NodeJS.ProcessEnv): Promise<string> =>
      (await findBrowser(programsHere(ports(env)))).path
    expect(await found({ PATH: folder, CHROME: own })).toBe(own)
    expect(await found({ PATH: folder, CHROME: '', CHROME_BIN: own })).toBe(known)
    expect(await found({ PATH: '', CHROME_BIN: own })).toBe(own)
  })

  test('none: the words that install one', async () => {
    await expect(findBrowser(programsHere(ports({ PATH: folder })))).rejects.toThrow(
      /There is no Chrome or Chromium.*On Debian: apt-get install chromium-headless-shell.*on macOS: brew install.*hosted by GitHub/
    )
  })

  test('a variable that leads nowhere is not ignored', async () => {
    install('chromium')
    await expect(
      findBrowser(programsHere(ports({ PATH: folder, CHROME: join(folder, 'gone') })))
    ).rejects.toThrow(/^CHROME is .*gone, but there is no program/)
  })

  test('one that does not print a version does not start', async () => {
    install('chromium', 'echo "cannot open shared object file: libnss3.so" >&2', 'exit 127')
    await expect(findBrowser(programsHere(ports({ PATH: folder })))).rejects.toThrow(
      /does not start \(exit code 127\): cannot open shared object file: libnss3\.so/
    )
  })
})

describe('a browser that cannot be used', () => {
  test('one that never prints its version', async () => {
    const CHROME = install('chromium', 'exec sleep 600')
    await expect(findBrowser(programsHere(ports({ PATH: process.env.PATH, CHROME }), 300))).rejects.toThrow(
      /chromium \(from CHROME\) does not start \(no end within 0\.3 s\).*apt-get install/
    )
  })

  test('a folder', async () => {
    await expect(findBrowser(programsHere(ports({ PATH: '', CHROME: folder })))).rejects.toThrow(
      /^CHROME is .*, but there is no program: .*apt-get install/
    )
  })

  test('a file that is no program', async () => {
    const file = join(folder, 'notes')
    writeFileSync(file, '\u007fELF but not really', { mode: 0o755 })
    await expect(findBrowser(programsHere(ports({ PATH: '', CHROME: file })))).rejects.toThrow(
      /notes \(from CHROME\) does not start.*apt-get install/
    )
  })
})

describe('what is refused before a run exists', () => {
  const refuse = (more: Partial<PlanRequest>): string[] =>
    createBrowserEngine(ports({})).refuse({
      ...{ tool: 'service-chrome', fileNames: ['plan.ts'], threads: 1, rampupSec: null, durationSec: null },
      ...{ hosts: [], properties: [], ...more }
    })

  test.each(['plan.ts', 'PLAN.TS', 'plan.js'])('%s is taken', (name) => {
    expect(refuse({ fileNames: [name, 'users.csv'] })).toEqual([])
  })

  test.each(['plan.jmx', 'plan.tsx', 'types.d.ts', 'plan', 'plan.py'])('%s is not', (name) => {
    expect(refuse({ fileNames: [name] })).toEqual([expect.stringContaining(`${name} is not a script`)])
  })

  test('parameters that would change the machine or the place', () => {
    const properties = ['PATH', 'NODE_OPTIONS', 'FLOOD_NODE_INDEX', 'colour'].map((name) => ({
      ...{ kind: 'D' as const, name, value: 'x' }
    }))
    expect(refuse({ properties })).toEqual([
      expect.stringContaining('override_parameters: -DPATH: PATH cannot be set'),
      expect.stringContaining('-DNODE_OPTIONS'),
      expect.stringContaining('-DFLOOD_NODE_INDEX')
    ])
  })
})
