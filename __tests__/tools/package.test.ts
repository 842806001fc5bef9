import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { removeFolder } from '../support/remove-folder.js'

/** The npm package, as people install it: no clone, no network, nothing but the tarball. */

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const INSTALL_MS = 120_000

let folder: string
let tarball: string
let listed: readonly { readonly path: string; readonly mode: number; readonly size: number }[]

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-package-'))
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const printed = execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const packed = JSON.parse(printed) as unknown
  // Some versions of npm print a list, others a map by name.
  const [first] = Object.values(packed as Record<string, { filename: string; files: typeof listed }>)
  tarball = join(folder, first!.filename)
  listed = first!.files
}, INSTALL_MS)
afterAll(() => removeFolder(folder))

/** Folders are named after what they are for. */
function makeFolder(name: string): string {
  const path = join(folder, name)
  mkdirSync(path, { recursive: true })
  return path
}

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs a program with another Node first in the path, and with npm's cache empty and the registry out of reach. */
function run(program: string, args: readonly string[], { cwd, node }: { cwd: string; node: string }): Ran {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: {
      PATH: [dirname(node), process.env.PATH].join(delimiter),
      HOME: makeFolder('home'),
      TMPDIR: process.env.TMPDIR,
      XDG_STATE_HOME: process.env.XDG_STATE_HOME,
      npm_config_cache: makeFolder('.npm'),
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false'
    }
  })
  return { code: status, out: stdout, err: stderr }
}

describe('what is in it', () => {
  const EXPECTED = [
    /^(LICENSE|README\.md|package\.json)$/,
    /^dist\/(cli|worker)\/index\.js$/,
    /^dist\/cli\/\d+\.index\.js$/,
    /^dist\/tools\/(element|k6|selenium-hub)\.mjs$/,
    /^dist\/(licenses\.txt|package\.json)$/,
    /^examples\/(gatling|k6|kubernetes|login|selenium|service|service-chrome|shop|side-by-side)\/[\w.-]+$/,
    /^examples\/service\/helm\/(templates\/)?[\w.-]+$/,
    /^java\/gatling\/scala\/flood\.scala$/,
    /^java\/jars\/(fetch|gatling|hosts|selenium)\.jar$/,
    /^packages\/browser\/package(-lock)?\.json$/,
    /^schema\/(baseline|config|service|verdict)\.schema\.json$/
  ]

  test('every file is expected, and every expected kind is there', () => {
    const paths = listed.map(({ path }) => path)
    expect(paths.filter((path) => !EXPECTED.some((pattern) => pattern.test(path)))).toEqual([])
    expect(EXPECTED.filter((pattern) => !paths.some((path) => pattern.test(path)))).toEqual([])
  })

  test('nothing of the sources, the tests, the action or this machine', () => {
    const forbidden =
      /(^|\/)(src|__tests__|scripts|bench|node_modules|\.\w[\w.-]*)\/|(^|\/)(action\.ya?ml|\.env|\.npmrc|.*\.(map|tgz|log))$|^dist\/(action|main|post|grid-)/
    expect(listed.map(({ path }) => path).filter((path) => forbidden.test(path))).toEqual([])
  })

  test('every file that the program loads later', () => {
    const listedFiles = listed.map(({ path }) => path).filter((path) => path.startsWith('dist/cli/'))
    const built = readdirSync('dist/cli').map((name) => `dist/cli/${name}`)
    expect(built.length).toBeGreaterThan(3)
    expect(listedFiles.sort()).toEqual(built.sort())
  })

  test('a program that can be started, and nothing to install beside it', () => {
    expect(listed.find(({ path }) => path === 'dist/cli/index.js')!.mode & 0o111).toBe(0o111)
    expect(readFileSync('dist/cli/index.js', 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Record<string, unknown>
    for (const key of ['dependencies', 'optionalDependencies', 'peerDependencies', 'private'])
      expect(manifest).not.toHaveProperty(key)
  })

  test('not more than 1.5 MB to download', () => {
    expect(readFileSync(tarball).length).toBeLessThan(1_500_000)
  })
})

/** The Node of the tests, and another one where there is one: that of the machine, behind the one that npm puts first. */
const others = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((place) => !place.includes('node_modules'))
  .map((place) => join(place, 'node'))
  .filter((path) => spawnSync(path, ['--version']).status === 0)
const machine = process.env.LOADGATE_BUNDLE_NODE ?? others[0] ?? process.execPath
const versionOf = (node: string): string => execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
const nodes = [...new Map([process.execPath, machine].map((node) => [versionOf(node), node]))]

describe.each(nodes)('installed on Node %s', (name, node) => {
  let home: string
  const loadgate = (...args: string[]): Ran =>
    run('npx', ['--no-install', 'loadgate', ...args], { cwd: home, node })

  beforeAll(() => {
    home = makeFolder(`installed-${name}`)
    writeFileSync(join(home, 'package.json'), '{ "private": true }')
    const { code, err } = run('npm', ['install', '--ignore-scripts', tarball], { cwd: home, node })
    expect([code, code === 0 ? '' : err]).toEqual([0, ''])
  }, INSTALL_MS)

  test(
    'says its version: by npx, by a link to it, by its own path',
    () => {
      expect(loadgate('--version')).toMatchObject({ code: 0, out: `${version}\n` })
      const link = join(home, 'linked')
      symlinkSync(join(home, 'node_modules/.bin/loadgate'), link)
      expect(run(link, ['--version'], { cwd: folder, node })).toMatchObject({ code: 0, out: `${version}\n` })
      const path = join(home, 'node_modules/loadgate/dist/cli/index.js')
      expect(run(node, [path, '--version'], { cwd: folder, node })).toMatchObject({ code: 0 })
    },
    INSTALL_MS
  )

  test(
    'runs the gate of the demo, and judges its CSVs once more',
    () => {
      const demo = loadgate('demo', '--rehearse')
      expect(demo.code).toBe(0)
      expect(demo.out).toMatch(/^PASSED \(rehearsal/m)
      const results = /verdict\.json are in (.+)$/m.exec(demo.out)![1]!
      expect(results).toContain(join(basename(home), 'loadgate-results'))
      const report = loadgate('report', join(results, 'results'), '--thresholds', 'p95 < 800ms', '--json')
      expect(JSON.parse(report.out)).toMatchObject({ thresholds: [{ verdict: 'passed' }] })
    },
    INSTALL_MS
  )
})

test(
  'runs from the tarball in an empty folder, without a package.json',
  () => {
    const empty = makeFolder('empty')
    copyFileSync(tarball, join(empty, 'loadgate.tgz'))
    const options = { cwd: empty, node: process.execPath }
    expect(run('npx', ['--yes', './loadgate.tgz', '--version'], options)).toMatchObject({
      code: 0,
      out: `${version}\n`
    })
  },
  INSTALL_MS
)
