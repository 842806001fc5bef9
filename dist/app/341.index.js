export const id=341;export const ids=[341];export const modules={13919:((t,e,r)=>{r.d(e,{u:()=>i});var n=r(46193);function i(t,e){let r=new n.StringDecoder("utf8"),i="",o=t=>{let r=(i+t).split(/[\r\n]+/);for(let t of(i=r.pop()??"",r))""!==t&&e(t.slice(0,8192));i.length>8192&&(e(i.slice(0,8192)),i="")};t.on("data",t=>o(r.write(t))),t.on("end",()=>o(`${r.end()}
`)),t.on("error",()=>o("\n"))}}),7341:((t,e,r)=>{r.r(e),r.d(e,{Processes:()=>l,bootId:()=>h,endGroup:()=>c,endLeftoverGroup:()=>u,isSameProcess:()=>p,readStartTime:()=>v});var n=r(31421),i=r(73024),o=r(58500),s=r(13919);let a=`
trap '' HUP INT QUIT TERM PIPE
readStart() {
  if [ -r "/proc/$group/stat" ]; then
    stat=$(cat "/proc/$group/stat" 2>/dev/null)
    set -- $\{stat##*) }
    echo "$\{20}"
  else
    ps -o lstart= -p "$group" 2>/dev/null
  fi
}
send() {
  now=$(readStart)
  if [ -n "$now" ] && [ "$now" != "$start" ]; then return 1; fi
  kill -s "$1" -- "-$group" 2>/dev/null
}
read -r group || exit 0
case $group in *[!0-9]* | '') exit 0 ;; esac
start=$(readStart)
read -r word && exit 0
send TERM || exit 0
for look in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  sleep 0.2 || sleep 1
  send 0 || exit 0
done
send KILL
`;let l=class Processes{tell;running=new Map;constructor(t){this.tell=t}async run(t,e){let r,i;e.throwIfAborted();let o=((r=(0,n.spawn)("/bin/sh",["-c",a],{cwd:"/",env:{PATH:process.env.PATH??"/usr/bin:/bin",LC_ALL:"C",TZ:"UTC"},detached:!0,stdio:["pipe","ignore","ignore"]})).on("error",()=>void 0),r.stdin.on("error",()=>void 0),r.unref(),(i=r.stdin).unref(),{watch:t=>i.write(`${t}
`),dismiss:()=>i.end("done\n")});try{let r=function({file:t,args:e,cwd:r,env:i}){return(0,n.spawn)(t,e,{cwd:r,env:i,detached:!0,shell:!1,stdio:["ignore","pipe","pipe"]})}(t);for(let e of[r.stdout,r.stderr])(0,s.u)(e,t.onLine);let i=d(r,"exit");if(void 0===r.pid)return await i;o.watch(r.pid);let a=this.follow(r,r.pid,{exit:i,signal:e});return this.running.set(r.pid,a),await a}finally{o.dismiss()}}async endAll(){await Promise.all([...this.running.keys()].map(c)),await Promise.allSettled([...this.running.values()])}async follow(t,e,r){let n=()=>void c(e);r.signal.addEventListener("abort",n,{once:!0});let i=d(t,"close");try{return this.tell.onStart({pid:e,startTime:v(e)??""}),await r.exit}finally{await c(e),await Promise.race([i,(0,o.setTimeout)(1e3,void 0,{ref:!1})]),t.stdout?.destroy(),t.stderr?.destroy(),r.signal.removeEventListener("abort",n),this.running.delete(e),this.tell.onEnd(e)}}};function d(t,e){return new Promise((r,n)=>{t.once("error",n),t.once(e,(t,e)=>r({code:t,signal:e}))})}async function c(t){!w(t)||(f(t,"SIGTERM"),await m(t,3e3)||(f(t,"SIGKILL"),await m(t,2e3)))}async function u(t){return!!function(t){if(t.pid<=1||""===t.startTime)return!1;let e=v(t.pid);if(void 0!==e)return e===t.startTime;let[r,n]=t.startTime.split("/");return g(t.pid).filter(e=>e.session===t.pid).some(t=>t.startTicks>=Number(n))&&r===h()}(t)&&(await c(t.pid),!0)}function p(t){return""!==t.startTime&&v(t.pid)===t.startTime}function f(t,e){try{process.kill(-t,e)}catch{}}async function m(t,e){let r=performance.now()+e;for(;w(t);){if(performance.now()>r)return!1;await (0,o.setTimeout)(25)}return!0}function w(t){try{process.kill(-t,0)}catch{return!1}return"linux"!==process.platform||g(t).length>0}function g(t){return"linux"!==process.platform?[]:(0,i.readdirSync)("/proc").filter(t=>/^\d+$/.test(t)).map(t=>T(Number(t))).filter(e=>e?.groupId===t&&!"ZX".includes(e.state)).filter(t=>void 0!==t)}function T(t){try{let e=(0,i.readFileSync)(`/proc/${t}/stat`,"latin1"),r=e.slice(e.lastIndexOf(")")+2).split(" ");return{state:r[0]??"",groupId:Number(r[2]),session:Number(r[3]),startTicks:Number(r[19])}}catch{return}}function h(){return(0,i.readFileSync)("/proc/sys/kernel/random/boot_id","latin1").trim()}function v(t){if("linux"===process.platform){let e=T(t);return e&&"Z"!==e.state?`${h()}/${e.startTicks}`:void 0}try{let e={PATH:process.env.PATH,LC_ALL:"C",TZ:"UTC"},r=["-o","lstart=","-p",String(t)];return(0,n.execFileSync)("ps",r,{encoding:"utf8",env:e,stdio:["ignore","pipe","ignore"]}).trim()||void 0}catch{return}}})};
