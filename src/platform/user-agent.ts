/** How the service names itself to the servers that it calls. */
export const userAgent = 'agentstead (+https://github.com/agentstead/agentstead)'
