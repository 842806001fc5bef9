import { createRequire as createRequireOfBundle } from 'node:module'
const require = createRequireOfBundle(import.meta.url)
import{splitLines}from"./chunk-TPCAH4P3.js";import{execFileSync,spawn as spawn2}from"node:child_process";import{accessSync,constants,readFileSync as readFileSync2,statSync}from"node:fs";import{setTimeout as sleep}from"node:timers/promises";import{readdirSync,readFileSync}from"node:fs";import{join}from"node:path";function readProcStat(pid,fileSystem="/"){try{let text=readFileSync(join(fileSystem,`proc/${pid}/stat`),"latin1"),fields=text.slice(text.lastIndexOf(")")+2).split(" ");return{pid,state:fields[0]??"",parent:Number(fields[1]),groupId:Number(fields[2]),session:Number(fields[3]),cpuTicks:[11,12,13,14].reduce((sum,index)=>sum+Number(fields[index]),0),startTicks:Number(fields[19])}}catch{return}}function readAllProcStats(fileSystem="/"){return readdirSync(join(fileSystem,"proc")).filter(name=>/^\d+$/.test(name)).map(name=>readProcStat(Number(name),fileSystem)).filter(stat=>stat!==void 0)}import{spawn}from"node:child_process";var SCRIPT=`
trap '' HUP INT QUIT TERM PIPE
readStart() {
  if [ -r "/proc/$group/stat" ]; then
    stat=$(cat "/proc/$group/stat" 2>/dev/null)
    set -- \${stat##*) }
    echo "\${20}"
  else
    ps -o lstart= -p "$group" 2>/dev/null
  fi
}
send() {
  now=$(readStart)
  if [ -n "$now" ] && [ "$now" != "$start" ]; then return 1; fi
  kill -s "$1" -- "-$group" 2>/dev/null
}
finish() {
  for look in 1 2 3 4 5; do
    [ -n "$folder" ] && [ -e "$folder" ] || exit 0
    rm -rf -- "$folder" 2>/dev/null || sleep 0.2 || sleep 1
  done
  exit 0
}
folder=$1
read -r group || finish
case $group in *[!0-9]* | '') exit 0 ;; esac
start=$(readStart)
read -r word && exit 0
send TERM || finish
for look in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  sleep 0.2 || sleep 1
  send 0 || finish
done
send KILL
finish
`;function startWatchdog(tempDir=""){let child=spawn("/bin/sh",["-c",SCRIPT,"watchdog",tempDir],{cwd:"/",env:{PATH:process.env.PATH??"/usr/bin:/bin",LC_ALL:"C",TZ:"UTC"},detached:!0,stdio:["pipe","ignore","ignore"]});child.on("error",()=>{}),child.stdin.on("error",()=>{}),child.unref();let pipe=child.stdin;return pipe.unref(),{watch:groupId=>pipe.write(`${groupId}
`),dismiss:()=>pipe.end(`done
`)}}var TERM_GRACE_MS=3e3,KILL_GRACE_MS=2e3,LAST_WORDS_MS=1e3,LOOK_EVERY_MS=25,Processes=class{constructor(tell){this.tell=tell}tell;running=new Map;async run(command,signal){await command.whenReady?.(),signal.throwIfAborted();let watchdog=startWatchdog(command.tempDir);try{let child=startTool(command);for(let stream of[child.stdout,child.stderr])splitLines(stream,command.onLine);let go=child.stdio[3];go.on("error",()=>{});let exit=awaitEvent(child,"exit");if(child.pid===void 0)return await exit;watchdog.watch(child.pid),command.onStart?.(child.pid);let done=this.follow(child,child.pid,{exit,signal});return this.running.set(child.pid,done),go.end(`go
`),await done}finally{watchdog.dismiss()}}async endAll(){await Promise.all([...this.running.keys()].map(endGroup)),await Promise.allSettled([...this.running.values()])}async follow(child,pid,ending){let end=()=>{endGroup(pid)};ending.signal.addEventListener("abort",end,{once:!0});let close=awaitEvent(child,"close");try{return this.tell.onStart({pid,startTime:readStartTime(pid)??""}),await ending.exit}finally{await endGroup(pid),await Promise.race([close,sleep(LAST_WORDS_MS,void 0,{ref:!1})]),child.stdout?.destroy(),child.stderr?.destroy(),ending.signal.removeEventListener("abort",end),this.running.delete(pid),this.tell.onEnd(pid)}}},WAIT_FOR_GO='read -r go <&3 || exit 1; exec 3<&-; unset go PWD OLDPWD SHLVL; exec "$@"';function startTool({file,args,cwd,env}){return requireExecutable(file),spawn2("/bin/sh",["-c",WAIT_FOR_GO,"sh",file,...args],{cwd,env,detached:!0,shell:!1,stdio:["ignore","pipe","pipe","pipe"]})}function requireExecutable(file){try{if(accessSync(file,constants.X_OK),!statSync(file).isFile())throw Object.assign(new Error,{code:"EACCES"})}catch(thrown){let{code="EACCES"}=thrown;throw Object.assign(new Error(`spawn ${file} ${code}`,{cause:thrown}),{code})}}function awaitEvent(child,event){return new Promise((resolve,reject)=>{child.once("error",reject),child.once(event,(code,signal)=>resolve({code,signal}))})}async function endGroup(pid){isGroupAlive(pid)&&(signalGroup(pid,"SIGTERM"),!await isGoneWithin(pid,TERM_GRACE_MS)&&(signalGroup(pid,"SIGKILL"),await isGoneWithin(pid,KILL_GRACE_MS)))}async function endLeftoverGroup(group){return isSameGroup(group)?(await endGroup(group.pid),!0):!1}function isSameProcess(group){return group.startTime!==""&&readStartTime(group.pid)===group.startTime}function isSameGroup(group){if(group.pid<=1||group.startTime==="")return!1;let leaderStart=readStartTime(group.pid);if(leaderStart!==void 0)return leaderStart===group.startTime;let[boot,ticks]=group.startTime.split("/");return groupMembers(group.pid).filter(member=>member.session===group.pid).some(child=>child.startTicks>=Number(ticks))&&boot===bootId()}function signalGroup(pid,signal){try{process.kill(-pid,signal)}catch{}}async function isGoneWithin(pid,patienceMs){let deadlineMs=performance.now()+patienceMs;for(;isGroupAlive(pid);){if(performance.now()>deadlineMs)return!1;await sleep(LOOK_EVERY_MS)}return!0}function isGroupAlive(pid){try{process.kill(-pid,0)}catch{return!1}return process.platform==="linux"?groupMembers(pid).length>0:!0}function groupMembers(groupId){return process.platform!=="linux"?[]:readAllProcStats().filter(stat=>stat.groupId===groupId&&!"ZX".includes(stat.state))}function bootId(){return readFileSync2("/proc/sys/kernel/random/boot_id","latin1").trim()}function readStartTime(pid){if(process.platform==="linux"){let stat=readProcStat(pid);return stat&&stat.state!=="Z"?`${bootId()}/${stat.startTicks}`:void 0}try{let env={PATH:process.env.PATH,LC_ALL:"C",TZ:"UTC"},stdio=["ignore","pipe","ignore"],args=["-o","lstart=","-p",String(pid)];return execFileSync("ps",args,{encoding:"utf8",env,stdio}).trim()||void 0}catch{return}}export{readAllProcStats,Processes,endGroup,endLeftoverGroup,isSameProcess,bootId,readStartTime};
