// The crosshair, zoom and keys. The page says everything without them.
(()=>{const $=(s,e=document)=>e.querySelector(s),$$=(s,e=document)=>[...e.querySelectorAll(s)];
document.documentElement.classList.add('js');
$$('[data-copy]').forEach(b=>b.onclick=async()=>{const el=$(b.dataset.copy),s=el.textContent;let ok=true;
 try{await navigator.clipboard.writeText(s)}catch{const r=document.createRange();r.selectNodeContents(el);const g=getSelection();g.removeAllRanges();g.addRange(r);ok=document.execCommand('copy')}
 b.textContent=ok?'Copied':'Press Ctrl+C';setTimeout(()=>b.textContent='Copy',1600)});
const D=JSON.parse($('#data').textContent),END=D.end,tl=$('.tl'),cv=$('.canvas'),ov=$('.over'),cross=$('.cross'),sel=$('.sel'),live=$('#live');
let zoom=1,cur=null;
const box=()=>ov.getBoundingClientRect();
const at=x=>{const b=box();return Math.max(0,Math.min(END,(x-b.left)/b.width*END))};
const fmt=t=>t.toFixed(zoom>8?3:zoom>2?2:1)+' s';
const ms=v=>v==null?'none':v<10?v.toFixed(1)+' ms':v<1000?Math.round(v)+' ms':(v/1000).toFixed(2)+' s';
// Log ends are read back from the drawn paths: the picture is the data.
const steps=p=>{if(p._s)return p._s;const o=[],q=p.closest('.pp').dataset,v=y=>q.top-y/q.scale;let x=0,y=0;p.getAttribute('d').replace(/([MLHV])([-\d.]+)(?: ([-\d.]+))?/g,(_,c,a,b)=>{if(c=='M'||c=='L'){x=+a;y=v(b)}else if(c=='H')x=+a;else y=v(a);o.push([x,y,c=='M'])});return p._s=o};
const val=(p,t)=>{const s=steps(p);let r=null;for(let i=0;i<s.length&&s[i][0]<=t;i++)r=s[i+1]&&s[i+1][2]&&t>s[i][0]||!s[i+1]&&t>s[i][0]?null:s[i][1];return r};
const plot=()=>$('.pp'+($('[name=pp]:checked')||{value:0}).value);
const big=v=>v.toLocaleString('en-US');
// The log lane fits what is in view.
function rescale(){const p=plot();if(!p)return;const[a,b]=win().map(t=>t*1000),top=+p.dataset.top;let lo=1/0,hi=-1/0;
 $$('[data-k]',p).forEach(e=>{const s=steps(e);s.forEach((q,i)=>{const n=s[i+1];if(q[0]<=b&&(q[0]>=a||n&&!n[2]&&n[0]>=a)){lo=Math.min(lo,q[1]);hi=Math.max(hi,q[1])}})});
 if(zoom==1||!(hi>=lo)){lo=0;hi=top}if(hi==lo)hi=lo+1;const h=hi-lo,at=v=>(hi-v)/h,y=v=>`calc(20px + (100% - 24px)*${at(v).toFixed(4)})`;
 const k=p.dataset.scale;$('svg',p).setAttribute('viewBox',`0 ${(top-hi)*k} ${END*1000} ${h*k}`);
 let st=1;for(const s of[1,2,5].flatMap(k=>[0,1,2,3,4,5,6,7,8].map(e=>k*10**e)).sort((x,y)=>x-y))if(h/s<=4.5){st=s;break}
 let o='';for(let v=Math.ceil(lo/st)*st;v<=hi;v+=st)if(at(v)>.06)o+=`<span class="y" style="top:${y(v)}">${big(v)}</span>`;$('.ys',p).innerHTML=o;
 $$('[data-v]',p).forEach(n=>{const f=at(+n.dataset.v);n.style.top=y(+n.dataset.v);n.style.visibility=f<0||f>1?'hidden':''})}
function show(t,say){cur=t;tl.classList.add('on');cross.style.display='block';cross.style.left=t/END*100+'%';cross.firstChild.textContent=fmt(t);
 const put=(id,s)=>{const e=$('#v-'+id);if(e)e.textContent=s};
 const f=D.faults.filter(f=>t>=f.t0&&t<f.t1).map(f=>f.label);put('f',f.join('\n')||'none on');
 const ns=D.nodes.map((n,i)=>{const g=n.spans.find(s=>t>=s[0]&&t<s[1])||n.spans.at(-1),w=g?g[2]:'unseen';put('n'+i,w);return n.name+' '+w});
 const i=Math.min(D.acks.length-1,Math.floor(t/D.bin)),a=D.acks[i],r=v=>+(v/D.bin).toFixed(1);
 put('a',`${a[4]?r(a[4])+' sent, no answer asked':r(a[0])+' kept, '+r(a[1])+' lost'}\n${r(a[2])} failed, ${r(a[3])} unknown`);
 const l=D.lat[i];put('l',l?`p50 ${ms(l[0])}\np99 ${ms(l[1])}`:'no acks');
 put('x',D.lost.map(q=>q.at.filter(x=>x<=t*1000).length+' of '+q.key).filter(s=>s[0]!='0').slice(0,4).join('\n')||'none yet');
 const p=plot();if(p)put('h',$$('[data-k]',p).map(e=>e.dataset.k+' '+(val(e,t*1000)??'unseen')).sort().join('\n'));
 if(say)live.textContent=`${fmt(t)}. Faults: ${f.join(', ')||'none'}. ${ns.join(', ')}. ${r(a[0])} acks a second kept, ${r(a[1])} later lost.`}
function hide(){tl.classList.remove('on');cross.style.display='none'}
function ticks(){const w=END/zoom,step=[.01,.02,.05,.1,.2,.5,1,2,5,10,20,60,120,300,600,1800,3600].find(s=>w/s<=13&&END/s<=4000)||3600*Math.ceil(END/3600/4000+w/46800),ax=$('#ticks');let a='',g='';
 for(let k=0,t;(t=k*step)<=END+1e-9;k++){const c=zoom==1&&k%2?' odd':'';a+=`<span class="tk${c}${k?'':' z'}" style="left:${t/END*100}%">${+t.toFixed(2)}${k==0?' s':''}</span>`;g+=`<i class="g${c}" style="left:${t/END*100}%"></i>`}
 ax.innerHTML=a;$('#grid').innerHTML=g}
function range(a,b){const w=Math.max(Math.min(.5,END),b-a);zoom=Math.max(1,END/w);document.documentElement.style.setProperty('--zoom',zoom);ticks();
 const b0=box();tl.scrollLeft=a/END*b0.width;rescale();if(cur!=null&&tl.classList.contains('on'))show(cur)}
const win=()=>{const w=box().width,a=tl.scrollLeft/w*END;return[a,a+END/zoom]};
const around=(k,c)=>{const[a,b]=win(),m=c??(a+b)/2,w=(b-a)/k,q=Math.max(0,Math.min(END-w,m-w*(m-a)/(b-a)));range(q,q+w)};
let drag=null;
cv.addEventListener('pointermove',e=>{if(e.target.closest('.lab'))return;const t=at(e.clientX);show(t);if(drag!=null){sel.style.display='block';sel.style.left=Math.min(drag,t)/END*100+'%';sel.style.width=Math.abs(t-drag)/END*100+'%'}});
tl.addEventListener('pointerleave',()=>{if(drag==null&&document.activeElement!==tl)hide()});
cv.addEventListener('pointerdown',e=>{if(e.button||e.target.closest('.lab,a,input'))return;if(e.pointerType=='touch')return show(at(e.clientX));drag=at(e.clientX);e.preventDefault();tl.focus({preventScroll:true})});
addEventListener('pointerup',e=>{if(drag==null)return;const t=at(e.clientX),a=Math.min(drag,t),b=Math.max(drag,t);drag=null;sel.style.display='none';if((b-a)/END*box().width>6)range(a,b)});
cv.addEventListener('dblclick',()=>range(0,END));
const marks=[...new Set(D.faults.flatMap(f=>[f.t0,f.t1]).concat(D.events))].sort((a,b)=>a-b);
tl.addEventListener('keydown',e=>{if(e.target!==tl||e.ctrlKey||e.metaKey||e.altKey)return;const w=END/zoom,st=(e.shiftKey?.1:.01)*w;let t=cur??win()[0];
 const k=e.key;if(k=='ArrowRight')t+=st;else if(k=='ArrowLeft')t-=st;else if(k=='n')t=marks.find(m=>m>t+1e-6)??t;else if(k=='p')t=marks.filter(m=>m<t-1e-6).at(-1)??t;else if(k=='Home')t=0;else if(k=='End')t=END;
 else if(k=='+'||k=='=')return around(2,t),e.preventDefault();else if(k=='-')return around(.5,t),e.preventDefault();else if(k=='0'||k=='Escape')return range(0,END),e.preventDefault();else return;
 e.preventDefault();t=Math.max(0,Math.min(END,t));show(t,1);const[a,b]=win();if(t<a||t>b)tl.scrollLeft=(t-w/2)/END*box().width});
tl.addEventListener('focus',()=>{if(tl.matches(':focus-visible'))show(cur??D.events[0]??0,1)});
$$('[data-z]').forEach(b=>b.onclick=()=>{const z=b.dataset.z;z=='in'?around(2):z=='out'?around(.5):range(...z.split('-').map(Number))});
$$('a[data-t]').forEach(a=>a.addEventListener('click',()=>{const t=+a.dataset.t;range(Math.max(0,t-2),Math.min(END,t+2));show(t)}));
$$('[name=pp]').forEach(r=>r.addEventListener('change',()=>{rescale();if(cur!=null)show(cur)}));
let due=0;tl.addEventListener('scroll',()=>{if(zoom>1&&!due)due=requestAnimationFrame(()=>{due=0;rescale()})});
const h=new URLSearchParams(location.hash.slice(1));const z0=h.get('z')?h.get('z').split('-').map(Number):D.open;if(z0)range(...z0);if(h.get('t'))show(+h.get('t'));
})();
