const folder = process.env.NODE_COMPILE_CACHE

/** Lets a program that a test starts use what Node has compiled before: half of a short one's time. Nothing else of it changes. */
export const compileCache: Record<string, string> = folder === undefined ? {} : { NODE_COMPILE_CACHE: folder }
