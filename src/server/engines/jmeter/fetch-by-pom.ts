import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../errors.js'
import type { InstallPorts } from '../install/install-ports.js'
import { MAVEN_ERRORS, markProjectRoot } from '../install/jars/maven.js'
import { reportProgress } from '../install/progress.js'
import { runToEnd } from '../install/run-to-end.js'
import { wordsOf } from '../install/tool-words.js'
import { mavenEnvironment } from '../tool-environment.js'
import { JMETER_POM } from './pom.js'

export interface PomRequest {
  readonly maven: string
  /** Where the jars go. */
  readonly jars: string
  /** Its `bin` gets the configuration. */
  readonly home: string
  /** For files that are needed meanwhile. */
  readonly work: string
}

/** Lets Maven download JMeter as the dependencies of a project: any Maven can, but it reads some 400 POMs for it. */
export async function fetchByPom(
  { maven, jars, home, work }: PomRequest,
  ports: InstallPorts
): Promise<void> {
  const project = await mkdtemp(join(work, 'maven-'))
  await markProjectRoot(project)
  await writeFile(join(project, 'pom.xml'), JMETER_POM)
  const env = mavenEnvironment(ports.env)
  let downloaded = 0
  const stopProgress = reportProgress(
    ports,
    (seconds) => `Installing JMeter: ${downloaded} files downloaded in ${seconds} s`
  )
  const { code, lines } = await runToEnd(
    {
      file: maven,
      args: ['-B', `-Dloadgate.jars=${jars}`, `-Dloadgate.home=${home}`, 'generate-resources'],
      cwd: project,
      env,
      onLine: (line) => {
        if (line.includes('Downloaded from')) downloaded += 1
      }
    },
    ports
  ).finally(stopProgress)
  ports.signal.throwIfAborted()
  if (code === 0) return
  const why = wordsOf(lines, MAVEN_ERRORS, env).join('\n') || `it exited with ${code}`
  throw new ToolError(`Maven could not download JMeter: ${why}`)
}
