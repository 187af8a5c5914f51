// What can wait until the judge sees the next document.

const LONGEST_FRAME = 100;

/** Kept after the next frame has been painted; a page that is hidden has no frames, and waits a moment. */
export function afterNextFrame() {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, LONGEST_FRAME);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      setTimeout(resolve, 0);
    });
  });
}
