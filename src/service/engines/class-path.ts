import { delimiter, dirname, join } from 'node:path'
import type { Dirent } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { ToolError } from '../errors.js'
import type { Engine } from './engine.js'
import { cacheFolder } from './install/install-once.js'
import { packageFile } from './install/run-to-end.js'

/**
 * An engine whose tool finds everything by a class path, in which there is no way to write a path that contains the
 * delimiter: Java would look in two wrong places and say that there is no such class.
 */
export function withClassPath(engine: Engine, env: NodeJS.ProcessEnv): Engine {
  return {
    ...engine,
    refuse: (request) => [...refuseJars(request.fileNames), ...engine.refuse(request)],
    prepare: async (plan) => {
      refuseFolder(dirname(plan.uploadDir), 'let --output, --data or, in a job, RUNNER_TEMP name another one')
      refuseFolder(cacheFolder('.', env), 'let XDG_CACHE_HOME or RUNNER_TOOL_CACHE name another one')
      refuseFolder(dirname(packageFile('package.json')), 'move loadgate to another one')
      return engine.prepare(plan)
    }
  }
}

function refuseJars(fileNames: readonly string[]): string[] {
  return fileNames
    .filter((name) => /\.jar$/i.test(name) && name.includes(delimiter))
    .map(
      (name) => `${name} cannot be on a class path, where "${delimiter}" separates the files; rename the file`
    )
}

function refuseFolder(folder: string, advice: string): void {
  if (folder.includes(delimiter))
    throw new ToolError(
      `The folder ${folder} cannot be on a class path, where "${delimiter}" separates the folders; ${advice}`
    )
}

/** The first bytes of a class: its magic number, then the versions of its format, the minor one first. */
const HEADER_BYTES = 8
const MAGIC = 0xcafebabe
/** The format of Java 1 was number 45. */
const BEFORE_JAVA_1 = 44

/** Throws if a Java is older than the classes in this folder, which it would not load. */
export async function refuseOlderJava(
  classesDir: string,
  { java, version, major, image }: { java: string; version: string; major: number; image: string }
): Promise<void> {
  const needed = await readClassVersion(classesDir)
  if (needed !== undefined && major < needed)
    throw new ToolError(
      `The plan is compiled with Java ${needed} on this machine, and ${java} of ${image} is ${version}, which cannot run it: use an image with Java ${needed} or later, or set JAVA_HOME to a JDK ${major} here`
    )
}

/** The oldest Java that loads the classes in a folder, by one of them: they are compiled together. */
async function readClassVersion(folder: string): Promise<number | undefined> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((): Dirent[] => [])
  const first = entries.find((entry) => entry.isFile() && entry.name.endsWith('.class'))
  if (first === undefined) return undefined
  const file = await open(join(first.parentPath, first.name))
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0)
    if (bytesRead < HEADER_BYTES || buffer.readUInt32BE(0) !== MAGIC) return undefined
    return buffer.readUInt16BE(6) - BEFORE_JAVA_1
  } finally {
    await file.close()
  }
}
