/** A page that asks for `?target=HOST:PORT` by every element and interface, and reports what it was told to `/report`. */

const worker = `
  const target = new URL(location.href).searchParams.get('target')
  fetch('http://' + target + '/worker').then(a => a.text(), e => 'failed').then(text => postMessage('worker ' + text))
`

const script = `
  const target = new URL(location.href).searchParams.get('target')
  const at = (path, scheme = 'http') => scheme + '://' + target + '/' + path
  const report = what => fetch('/report?what=' + encodeURIComponent(what))
  const waiting = []
  const told = (name, promise) => waiting.push(promise.then(v => name + ' ' + v, e => name + ' failed').then(report))
  const settled = (thing, ...names) => new Promise(done => names.forEach(name => thing.addEventListener(name, () => done(name))))
  const within = (ms, promise) => Promise.race([promise, new Promise(done => setTimeout(done, ms, 'no answer'))])
  const element = (name, properties) => {
    const made = Object.assign(document.createElement(name), properties)
    told(name, within(1500, settled(made, 'load', 'error')))
    document.body.append(made)
  }
  const told2 = (name, make) => { try { told(name, within(1500, make())) } catch { told(name, Promise.resolve('threw')) } }

  for (const rel of ['dns-prefetch', 'preconnect', 'prefetch', 'preload', 'modulepreload', 'stylesheet', 'icon', 'manifest'])
    element('link', { rel, href: at(rel), as: 'fetch' })
  element('img', { src: at('img') })
  element('script', { src: at('script') })
  element('iframe', { src: at('iframe') })
  element('iframe', { src: '/to?url=' + encodeURIComponent(at('redirected-frame')) })
  element('object', { data: at('object') })
  element('embed', { src: at('embed') })
  element('video', { src: at('video'), autoplay: true })
  element('audio', { src: at('audio'), autoplay: true })
  element('style', { textContent: 'body { background: url(' + at('background') + ') } @font-face { font-family: own; src: url(' + at('font') + ') } p { font-family: own }' })
  element('script', { type: 'speculationrules', textContent: JSON.stringify({ prefetch: [{ urls: [at('speculated')] }], prerender: [{ urls: [at('prerendered')] }] }) })
  const form = Object.assign(document.createElement('form'), { action: at('form'), method: 'post', target: 'of-form' })
  element('iframe', { name: 'of-form' })
  document.body.append(form)
  form.submit()

  told2('fetch', () => fetch(at('fetch')).then(answer => answer.text()))
  told2('secure fetch', () => fetch(at('fetch', 'https')).then(answer => answer.text()))
  told2('redirect', () => fetch('/to?url=' + encodeURIComponent(at('redirected'))).then(answer => answer.text()))
  told2('beacon', async () => navigator.sendBeacon(at('beacon'), 'x'))
  told2('request', () => { const r = new XMLHttpRequest(); r.open('GET', at('request')); r.send(); return settled(r, 'load', 'error').then(() => r.responseText) })
  told2('events', () => settled(new EventSource(at('events')), 'open', 'error'))
  told2('socket', () => settled(new WebSocket(at('socket', 'ws')), 'open', 'error'))
  told2('secure socket', () => settled(new WebSocket(at('socket', 'wss')), 'open', 'error'))
  told2('transport', () => new WebTransport(at('transport', 'https')).ready.then(() => 'open'))
  told2('worker', () => { const w = new Worker('/worker.js?target=' + target); return new Promise(done => { w.onmessage = e => done(e.data) }) })
  told2('service worker', () => navigator.serviceWorker.register('/worker.js?target=' + target).then(() => 'registered'))
  told2('popup', async () => { open(at('popup')); return 'opened' })
  told2('rtc', async () => {
    const urls = ['stun:' + target, 'turn:' + target + '?transport=udp', 'turn:' + target + '?transport=tcp']
    const connection = new RTCPeerConnection({ iceServers: urls.map(url => ({ urls: url, username: 'a', credential: 'b' })) })
    const found = []
    connection.onicecandidate = ({ candidate }) => candidate && found.push(candidate.candidate)
    connection.createDataChannel('data')
    await connection.setLocalDescription(await connection.createOffer())
    await within(1200, new Promise(done => { connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && done() }))
    return found.length + ' candidates'
  })
  Promise.all(waiting).then(() => report('all was tried'))
`

export const hostilePage = {
  html: `<!doctype html><title>Hostile</title><body><p>Text<script>${script}</script>`,
  worker,
}
