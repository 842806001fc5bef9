import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { installJars } from '../../../src/service/engines/install/jars/fetch-jars.js'
import { jarPaths } from '../../../src/service/engines/install/jars/jar-list.js'
import SCALA_COMPILER_JARS from '../../../src/service/engines/gatling/scala-compiler-jars.json' with { type: 'json' }
import { Processes } from '../../../src/service/nodes/machine/processes.js'

/** Writes the variables that it sees into a file. */
const WRITE = (marker: string): string =>
  `try { java.nio.file.Files.write(java.nio.file.Paths.get("${marker}"), System.getenv().toString().getBytes()); } catch (java.io.IOException thrown) { throw new RuntimeException(thrown); }`

/** Java whose code runs as soon as somebody reads the annotations of its classes: whoever looks for what to run does. */
export const trap = (marker: string): string => `
@java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.RUNTIME)
@interface Trap { Kind value(); }
enum Kind { CLOSED; static { ${WRITE(marker)} } }
class Trapped { @Trap(Kind.CLOSED) void step() {} }
`

/** A class of the tool's own name, which would run instead of it. */
export const ownFindPlan = (marker: string): string =>
  `package loadgate.selenium;
public class FindPlan {
  public static void main(String[] args) { ${WRITE(marker)} System.out.println("main Plan"); }
}
`

/** A jar with a plugin and an annotation processor of javac, which want to be started. */
export function makePluginJar(folder: string, marker: string): string {
  const source = join(folder, 'src', 'hostile', 'Started.java')
  mkdirSync(dirname(source), { recursive: true })
  writeFileSync(
    source,
    `package hostile;
public class Started extends javax.annotation.processing.AbstractProcessor implements com.sun.source.util.Plugin {
  static { ${WRITE(marker)} }
  public String getName() { return "started"; }
  public boolean autoStart() { return true; }
  public void init(com.sun.source.util.JavacTask task, String... args) {}
  public boolean process(
      java.util.Set<? extends javax.lang.model.element.TypeElement> types,
      javax.annotation.processing.RoundEnvironment round) { return false; }
}
`
  )
  const classes = join(folder, 'plugin-classes')
  execFileSync('javac', ['-proc:none', '-d', classes, source])
  for (const service of ['com.sun.source.util.Plugin', 'javax.annotation.processing.Processor']) {
    mkdirSync(join(classes, 'META-INF', 'services'), { recursive: true })
    writeFileSync(join(classes, 'META-INF', 'services', service), 'hostile.Started\n')
  }
  const jar = join(folder, 'plugin.jar')
  execFileSync('jar', ['cf', jar, '-C', classes, '.'])
  return jar
}

/** A jar with a macro of Scala: the compiler of the plan that calls it runs it. */
export async function makeMacroJar(folder: string, marker: string): Promise<string> {
  const { signal } = new AbortController()
  const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
  const ports = { env: process.env, processes, log: () => undefined, signal }
  const jars = jarPaths(await installJars(SCALA_COMPILER_JARS, ports), SCALA_COMPILER_JARS).join(':')
  const source = join(folder, 'Macros.scala')
  writeFileSync(
    source,
    `package hostile
import scala.language.experimental.macros
import scala.reflect.macros.blackbox
object Macros {
  def run(): Unit = macro runImpl
  def runImpl(c: blackbox.Context)(): c.Tree = {
    java.nio.file.Files.write(java.nio.file.Paths.get("${marker}"), "x".getBytes)
    import c.universe._
    q"()"
  }
}
`
  )
  const jar = join(folder, 'macros.jar')
  execFileSync('java', ['-cp', jars, 'scala.tools.nsc.Main', '-cp', jars, '-d', jar, source])
  return jar
}

/** Calls the macro; its request says whether the macro ran where the simulation runs. */
export const macroPlan = (marker: string): string => `import io.gatling.core.Predef._
import io.gatling.http.Predef._

class Plan extends Simulation {
  hostile.Macros.run()
  val where = if (new java.io.File("${marker}").exists) "compiled here" else "compiled elsewhere"
  val target = http.baseUrl("http://" + System.getProperty("host") + ":" + System.getProperty("port"))
  setUp(scenario("users").exec(http(where).get("/")).inject(atOnceUsers(1))).protocols(target)
}
`

/** Imports a file five folders above its own by a pattern, which the compiler looks for among the files of its machine. */
export const PATTERN_SCRIPT = `import { step } from '@flood/element'
export const settings = { loopCount: 1, actionDelay: 0, stepDelay: 0, waitTimeout: '20s' }
export default async () => {
  const name = ['se', 'cret'].join('')
  let found = 'found nothing'
  try {
    await import(\`../../../../../\${name}.json\`)
    found = 'read the secret'
  } catch {}
  step(found, async (browser) => { await browser.visit(process.env.target + '/') })
}
`
