/** Runs inside QuickJS after `core.js`: bytes and text, which the host converts. Bytes are passed as one character each. */
let ask

export function install(core) {
  ask = core.ask
  core.define('TextEncoder', TextEncoder)
  core.define('TextDecoder', TextDecoder)
  core.define('btoa', text => ask('encodeBase64', String(text)))
  core.define('atob', text => ask('decodeBase64', String(text)))
  core.define('crypto', { randomUUID: () => ask('randomUuid') })
}

class TextEncoder {
  encode(text = '') {
    return Uint8Array.from(ask('encodeUtf8', String(text)), character => character.charCodeAt(0))
  }
}

class TextDecoder {
  decode(bytes = new Uint8Array()) {
    const view = ArrayBuffer.isView(bytes)
      ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      : new Uint8Array(bytes)
    return ask('decodeUtf8', Array.from(view, byte => String.fromCharCode(byte)).join(''))
  }
}
