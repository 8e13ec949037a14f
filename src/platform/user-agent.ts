/** The service's name for the servers that it calls. */
export const userAgent = 'agentstead (+https://github.com/agentstead/agentstead)'
