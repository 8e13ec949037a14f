/** Pause before a lost connection is reopened (ms); each further attempt doubles it. */
const firstPauseMs = 500
const maxPauseMs = 10_000

/** Codes after which a retry is useless: the session or the right to see it has ended. */
const finalCodes = [1000, 4403, 4404]

/**
 * Keeps a WebSocket open. `onLost` is called at each failure, `onEnd` with the code of a permanent end.
 * Returns a function that sends a message, or drops it and returns false without a connection.
 */
export function keepConnected(url, { onMessage, onLost, onEnd }) {
  let socket
  let timer
  let pause = firstPauseMs

  function open() {
    clearTimeout(timer)
    timer = undefined
    socket = new WebSocket(url)
    socket.addEventListener('message', ({ data }) => {
      pause = firstPauseMs
      onMessage(JSON.parse(data))
    })
    socket.addEventListener('close', ({ code }) => {
      if (finalCodes.includes(code)) {
        onEnd(code)
        return
      }
      onLost()
      timer = setTimeout(open, pause)
      pause = Math.min(pause * 2, maxPauseMs)
    })
  }

  addEventListener('online', () => {
    if (timer !== undefined) open()
  })
  open()
  return message => {
    const isOpen = socket.readyState === WebSocket.OPEN
    if (isOpen) socket.send(JSON.stringify(message))
    return isOpen
  }
}
