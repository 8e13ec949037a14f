/** Does nothing, so that the rest of a process's time to start and memory is known. */
console.log('ready')
setInterval(() => {}, 60_000)
