/** Paths into payloads: keys and array positions joined by dots. A key that itself holds a dot has no path. */
export const MAX_PATH_CHARS = 1024;
export const MAX_PATH_SEGMENTS = 32;
