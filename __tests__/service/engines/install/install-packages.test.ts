import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BROWSER_PACKAGES } from '../../../../src/service/engines/browser/browser.js'
import { installPackages } from '../../../../src/service/engines/install/install-packages.js'
import { packageFile } from '../../../../src/service/engines/install/run-to-end.js'
import { ToolError } from '../../../../src/service/errors.js'
import { Processes } from '../../../../src/service/nodes/machine/processes.js'
import { writeScript } from '../../stand-in.js'
import { createFolders } from '../../support.js'

interface Locked {
  readonly version: string
  readonly resolved?: string
  readonly integrity?: string
}
const lock = JSON.parse(
  readFileSync(packageFile(`${BROWSER_PACKAGES.folder}/package-lock.json`), 'utf8')
) as {
  packages: Record<string, Locked>
}
const needed = ['node_modules/esbuild-wasm', 'node_modules/playwright-core']

const folders = createFolders()
afterAll(() => folders.remove())

let tools: string
let cache: string
let lines: string[]
beforeEach(() => {
  tools = folders.create()
  cache = folders.create()
  lines = []
})

function install(env: NodeJS.ProcessEnv = {}): Promise<string> {
  return installPackages(BROWSER_PACKAGES, {
    env: { PATH: tools, XDG_CACHE_HOME: cache, ...env },
    processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
    log: (line) => lines.push(line),
    signal: new AbortController().signal
  })
}

/** An npm that "installs" these packages. */
function writeNpm(packages: readonly string[], last: readonly string[] = []): void {
  writeScript(join(tools, 'npm'), [
    `echo "$*" >> '${tools}/calls'; /usr/bin/env > '${tools}/environment'`,
    '[ -e package.json ] && [ -e package-lock.json ] || exit 3',
    ...packages.map(
      (path) => `/bin/mkdir -p ${path}; echo '{}' > ${path}/package.json; echo code > ${path}/index.js`
    ),
    ...last
  ])
}

const inCache = (): string[] => readdirSync(join(cache, 'loadgate-tools'))

describe('packages from a lock', () => {
  test('are installed once, without running their scripts', async () => {
    writeNpm(needed)
    const folder = await install()
    for (const path of needed) expect(existsSync(join(folder, path, 'index.js'))).toBe(true)
    expect(await install()).toBe(folder)
    const calls = readFileSync(join(tools, 'calls'), 'utf8').trim().split('\n')
    expect(calls).toEqual([expect.stringMatching(/^ci --ignore-scripts /)])
    expect(lines).toEqual([
      'Installing the packages for service-chrome (playwright-core, esbuild-wasm) with npm, once'
    ])
  })

  test("use the user's settings of npm, and nothing else of the job", async () => {
    writeNpm(needed)
    const settings = {
      npm_config_registry: 'http://r',
      NPM_CONFIG_CAFILE: '/ca',
      NODE_AUTH_TOKEN: 'for-the-registry'
    }
    await install({ ...settings, HTTPS_PROXY: 'http://p', GITHUB_TOKEN: 'secret', NODE_OPTIONS: '--secret' })
    const environment = readFileSync(join(tools, 'environment'), 'utf8')
    for (const [name, value] of Object.entries(settings)) expect(environment).toContain(`${name}=${value}\n`)
    expect(environment).toContain('HTTPS_PROXY=http://p')
    expect(environment).not.toContain('secret')
  })

  test.each([
    {
      name: 'one is missing',
      packages: needed.slice(1),
      last: [],
      message: /without esbuild-wasm: does npm's registry/
    },
    {
      name: 'a package has other bytes',
      packages: needed,
      last: ['echo "npm error code EINTEGRITY" >&2; echo "npm error sha512-a expected" >&2; exit 1'],
      message: /exited with 1: npm error code EINTEGRITY\nnpm error sha512-a expected. Check the network/
    },
    {
      name: 'npm is killed',
      packages: needed,
      last: ['kill -9 $$'],
      message:
        /^npm could not install the packages for service-chrome \(playwright-core, esbuild-wasm\): it exited with null. Check/
    }
  ])('are complete or not used: $name', async ({ packages, last, message }) => {
    writeNpm(packages, last)
    await expect(install()).rejects.toThrow(message)
    expect(inCache()).toEqual([])
    writeNpm(needed)
    expect(await install()).toContain('browser-engine-')
  })

  test('lie where they are expected, whatever the settings say of other projects', async () => {
    writeNpm(needed)
    await install()
    expect(readFileSync(join(tools, 'calls'), 'utf8')).toContain(
      ' --install-strategy=hoisted --dry-run=false --global=false --workspaces=false'
    )
  })

  test.each([
    { name: 'an altered script', file: 'node_modules/playwright-core/index.js' },
    { name: 'another entry point', file: 'node_modules/esbuild-wasm/package.json' }
  ])('are installed again if there is $name', async ({ file }) => {
    writeNpm(needed)
    const folder = await install()
    const before = readFileSync(join(folder, file), 'utf8')
    writeFileSync(join(folder, file), before.replace(/./, '_'))
    expect(await install()).toBe(folder)
    expect(readFileSync(join(folder, file), 'utf8')).toBe(before)
  })

  test.each([
    {
      name: 'offline',
      said: 'npm error request to http://r failed: cache mode is only-if-cached.',
      told: /only-if-cached\. Check the network/
    },
    {
      name: 'a full disk',
      said: 'npm error code ENOSPC',
      told: /npm error code ENOSPC\. The disk is full: free up space$/
    },
    {
      name: 'a token',
      said: 'npm error sent npm-registry-secret and other-registry-secret',
      told: /sent \*\*\* and \*\*\*\. Check/
    }
  ])('fail in the words of npm: $name', async ({ said, told }) => {
    writeNpm([], [`echo '${said}' >&2; exit 1`])
    await expect(
      install({ NPM_TOKEN: 'npm-registry-secret', NODE_AUTH_TOKEN: 'other-registry-secret' })
    ).rejects.toThrow(told)
  })

  test('need npm, and say so', async () => {
    await expect(install()).rejects.toThrow(ToolError)
    await expect(install()).rejects.toThrow(/needs npm, but there is no npm on the PATH: install Node/)
  })
})

describe('the lock of the browser engine', () => {
  const packages = Object.entries(lock.packages).filter(([path]) => path !== '')

  test('has a hash for every package, and the address of none: the registry is the one that the user has set', () => {
    expect(packages.filter(([, { integrity }]) => !/^sha512-.{86}==$/.test(integrity ?? ''))).toEqual([])
    expect(packages.filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
  })

  test('has nothing that runs on some machines only: what is installed here is copied to nodes of any kind', () => {
    expect(packages.filter(([, locked]) => 'os' in locked || 'cpu' in locked)).toEqual([])
  })

  test('has the versions that the tests of this package use', () => {
    const { devDependencies } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
      devDependencies: Record<string, string>
    }
    const versionOf = (name: string): string | undefined => lock.packages[`node_modules/${name}`]?.version
    expect(versionOf('playwright-core')).toBe(devDependencies['playwright-core'])
    expect(versionOf('esbuild-wasm')).toBe(devDependencies.esbuild)
  })
})
