// The hashes are filled in by `npm run generate -- jar-lists`, from the coordinates.
import type { JarList } from '../install/jars/jar-list.js'

export const KOTLIN_COMPILER_JARS: JarList = {
  name: 'kotlin-compiler-2.2.21',
  jars: [
    'org.jetbrains.kotlin:kotlin-compiler-embeddable:2.2.21 9588fa696ac5507af764fd5660df6894185e12704ec1bc3f5cb772af4987f295',
    'org.jetbrains.kotlin:kotlin-daemon-embeddable:2.2.21 91c0673c22e44b054ae0314d323860ebe1f3aff3f0ebc74fff82c4733dde09be',
    'org.jetbrains.kotlin:kotlin-reflect:1.6.10 3277ac102ae17aad10a55abec75ff5696c8d109790396434b496e75087854203',
    'org.jetbrains.kotlin:kotlin-script-runtime:2.2.21 2b1519b427b514d1536c1b425674b03fe914af637924028e9959c6625442df51',
    'org.jetbrains.kotlin:kotlin-stdlib:2.2.21 6558a3d233da56a20934b32159f9db5f86ed5816ef098f78a2c223dc6abb79dd',
    'org.jetbrains.kotlinx:kotlinx-coroutines-core-jvm:1.8.0 9860906a1937490bf5f3b06d2f0e10ef451e65b95b269f22daf68a3d1f5065c5',
    'org.jetbrains:annotations:13.0 ace2a10dc8e2d5fd34925ecac03e4988b2c0f851650c94b8cef49ba1bd111478'
  ]
}
