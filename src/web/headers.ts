const policy = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  // blobs are what the page makes of images in payloads
  "img-src": "'self' blob:",
  "connect-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
  // no text becomes HTML, whatever a library would do with it
  "require-trusted-types-for": "'script'",
  "trusted-types": "trace-worker",
};

/** No foreign content, nothing inline, no framing, and no referrer. */
export const pageHeaders: Readonly<Record<string, string>> = {
  "content-security-policy": Object.entries(policy)
    .map(([directive, value]) => `${directive} ${value}`)
    .join("; "),
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};
