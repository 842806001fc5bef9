import { existsSync } from 'node:fs'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../errors.js'
import { npmEnvironment } from '../tool-environment.js'
import { cacheFolder, installOnce } from './install-once.js'
import { TOOLS_CACHE } from './jars/fetch-jars.js'
import { type InstallPorts, runToEnd, findOnPath, packageFile } from './run-to-end.js'
import { fingerprint } from './jars/jar-list.js'
import { reportProgress, asSentence, wordsOf } from './tool-words.js'

/** npm packages that are installed together; the folder is within this package. */
export interface PackageLock {
  readonly name: string
  readonly what: string
  /** With a package.json, and a package-lock.json that has an integrity hash for every package. */
  readonly folder: string
}

const NPM_ERRORS = [/^npm (?:error|ERR!)/]
/** The user's settings say where packages come from; those for other folders, layouts or projects must not count here. */
const NPM_ARGS = [
  ...['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev', '--include=optional'],
  ...['--install-strategy=hoisted', '--dry-run=false', '--global=false', '--workspaces=false']
]

/** Returns a folder with a `node_modules` as locked, which is installed if it is not there yet. No script of a package runs. */
export async function installPackages(lock: PackageLock, ports: InstallPorts): Promise<string> {
  const { what } = lock
  const folder = packageFile(lock.folder)
  const text = await readFile(join(folder, 'package-lock.json'), 'utf8')
  const key = fingerprint([text])
  return installOnce(
    {
      what,
      cache: cacheFolder(TOOLS_CACHE, ports.env),
      name: `${lock.name}-${key}`,
      install: async ({ home }) => {
        const npm = await requireNpm(ports, what)
        ports.log(`Installing ${what} with npm, once`)
        for (const file of ['package.json', 'package-lock.json'])
          await copyFile(join(folder, file), join(home, file))
        await runNpm(npm, what, home, ports)
        checkPackages(what, home, text)
      }
    },
    ports
  )
}

async function requireNpm(ports: InstallPorts, what: string): Promise<string> {
  const npm = await findOnPath('npm', ports.env)
  if (npm !== undefined) return npm
  throw new ToolError(
    `Installing ${what} needs npm, but there is no npm on the PATH: install Node with npm (actions/setup-node in a workflow)`
  )
}

async function runNpm(file: string, what: string, cwd: string, ports: InstallPorts): Promise<void> {
  const stopProgress = reportProgress(ports, (seconds) => `Installing ${what}: npm has run for ${seconds} s`)
  const env = npmEnvironment(ports.env)
  const { code, lines } = await runToEnd({ file, args: NPM_ARGS, cwd, env }, ports).finally(stopProgress)
  ports.signal.throwIfAborted()
  if (code === 0) return
  const why = wordsOf(lines, NPM_ERRORS, env).join('\n')
  const happened = `npm could not install ${what}: it exited with ${code}${why === '' ? '' : `: ${why}`}`
  const advice = /ENOSPC|no space left/i.test(why)
    ? 'The disk is full: free up space'
    : "Check the network, and the registry and proxy in npm's settings"
  throw new ToolError(`${asSentence(happened)} ${advice}`)
}

function checkPackages(what: string, home: string, lockText: string): void {
  const { packages } = JSON.parse(lockText) as { packages: Record<string, unknown> }
  for (const path of Object.keys(packages))
    if (path !== '' && !existsSync(join(home, path, 'package.json')))
      throw new ToolError(
        `npm installed ${what} without ${path.replace(/^node_modules\//, '')}: does npm's registry have it?`
      )
}
