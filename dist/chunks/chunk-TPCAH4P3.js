import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{StringDecoder}from"node:string_decoder";var MAX_LINE_LENGTH=8192,CUT="\u2026";function splitLines(stream,onLine){let decoder=new StringDecoder("utf8"),rest="",isCut=!1,tell=line=>{line!==""&&!isCut&&onLine(limit(line)),isCut=!1},take=text=>{let lines=(rest+text).split(/[\r\n]+/);rest=lines.pop()??"";for(let line of lines)tell(line);rest.length<=MAX_LINE_LENGTH||(tell(rest),rest="",isCut=!0)};stream.on("data",chunk=>take(decoder.write(chunk))),stream.on("end",()=>take(`${decoder.end()}
`)),stream.on("error",()=>take(`
`))}function limit(line){return line.length>MAX_LINE_LENGTH?`${line.slice(0,MAX_LINE_LENGTH-CUT.length)}${CUT}`:line}export{CUT,splitLines};
