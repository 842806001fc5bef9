// The hashes are filled in by `npm run generate -- jar-lists`, from the coordinates.
import type { JarList } from '../install/jars/jar-list.js'

export const SCALA_COMPILER_JARS: JarList = {
  name: 'scala-compiler-2.13.18',
  jars: [
    'io.github.java-diff-utils:java-diff-utils:4.16 620403030d676a4a27f780a3acec7438dee1b1651a1c804fa6bb11bb07399a6f',
    'org.jline:jline:jar:jdk8:3.29.0 ed2680487642df95379f220c09c0f77e25095713387e2bc00c2d6581bb79c804',
    'org.scala-lang:scala-compiler:2.13.18 2f15891fcae7aad30a3892194fb2abb6224cf7ce5d2bd90fba7f1c48682fca21',
    'org.scala-lang:scala-library:2.13.18 4e85d96ff7bc7dc627985523c3541b9917aaa08e956391380c42db21a2c4e5a0',
    'org.scala-lang:scala-reflect:2.13.18 6935ff1982b2ac93d695f15aa66921be2f602921277afe002f018fd8c7d6e29b'
  ]
}
