import { delimiter, resolve } from 'node:path'

/** The environment variables a tool gets: a plan can run any code, and a job's environment holds tokens. */
const ALLOWED = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LANGUAGE', 'TZ', 'TMPDIR', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['JAVA_HOME', 'JMETER_HOME', 'JVM_ARGS', 'HEAP']
])

const PROXIES = ['http_proxy', 'https_proxy', 'no_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']

/** Maven also needs access to its repositories; it runs no plan. */
const ALLOWED_FOR_MAVEN = new Set(['MAVEN_OPTS', 'MAVEN_ARGS', 'M2_HOME', 'JAVA_TOOL_OPTIONS', ...PROXIES])

/** So does npm, whose settings may refer to a token by one of these names. It runs no script of a package. */
const ALLOWED_FOR_NPM = new Set([...PROXIES, 'NODE_EXTRA_CA_CERTS', 'NODE_AUTH_TOKEN', 'NPM_TOKEN'])

export function toolEnvironment(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform
): NodeJS.ProcessEnv {
  const allowed = withAbsolutePaths(pick(env, (name) => ALLOWED.has(name) || name.startsWith('LC_')))
  // Java decodes its arguments and the names of files by the locale, which is ASCII in most containers.
  const locale = [env.LC_ALL, env.LC_CTYPE, env.LANG].find(Boolean) ?? ''
  if (/utf-?8/i.test(locale)) return allowed
  return { ...allowed, LC_ALL: platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8' }
}

/** A tool runs in its own folder, where relative paths of the command would be wrong. */
function withAbsolutePaths(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const homes = ['JAVA_HOME', 'JMETER_HOME'].flatMap((name) => {
    const path = env[name]
    return path ? [[name, resolve(path)] as const] : []
  })
  const dirs = env.PATH?.split(delimiter).filter((dir) => dir !== '')
  const path = dirs && { PATH: dirs.map((dir) => resolve(dir)).join(delimiter) }
  return { ...env, ...Object.fromEntries(homes), ...path }
}

export function mavenEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...toolEnvironment(env), ...pick(env, (name) => ALLOWED_FOR_MAVEN.has(name)) }
}

export function npmEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const allows = (name: string): boolean => ALLOWED_FOR_NPM.has(name) || /^npm_config_/i.test(name)
  return { ...toolEnvironment(env), ...pick(env, allows) }
}

function pick(env: NodeJS.ProcessEnv, allows: (name: string) => boolean): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => allows(name)))
}

/** Users' options for JVMs: `HEAP`, instead of a tool's own, and `JVM_ARGS`; after those for its folders, which come from `env`. */
export function jvmOptions(
  { HEAP, JVM_ARGS = '' }: NodeJS.ProcessEnv,
  { heap, env }: { readonly heap: string; readonly env: NodeJS.ProcessEnv }
): string[] {
  return [...jvmFolders(env), ...`${HEAP ?? heap} ${JVM_ARGS}`.split(/\s+/).filter(Boolean)]
}

/** A JVM ignores these variables: it looks for its home in the list of users, and its temporary files are in `/tmp`, unless options say otherwise. */
export function jvmFolders({ HOME, TMPDIR }: NodeJS.ProcessEnv): string[] {
  return [
    ...(HOME === undefined ? [] : [`-Duser.home=${HOME}`]),
    ...(TMPDIR === undefined ? [] : [`-Djava.io.tmpdir=${TMPDIR}`])
  ]
}

const MB = 1024 ** 2
/** The rest is for what a JVM has outside of its heap: classes, compiled code, stacks, buffers of sockets. */
const HEAP_SHARE = 0.6

/** The size of a heap, as in `-Xmx`, for a JVM that has this memory for itself; 1 GB if that is unknown. */
export function heapSize(memoryBytes: number | undefined): string {
  return memoryBytes === undefined ? '1g' : `${Math.max(1, Math.floor((memoryBytes * HEAP_SHARE) / MB))}m`
}
