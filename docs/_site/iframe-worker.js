/*
 * Search in pages that are opened as files. Browsers start no worker from a file:// address, so there
 * the script of the search runs in a hidden frame, which passes messages as a worker does.
 */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.ready = new Promise((resolve) => {
        this.frame.addEventListener("load", () => {
          const inside = this.frame.contentWindow;
          // What the script posts goes to this page, not to its own frame.
          inside.postMessage = (data) => {
            const message = new MessageEvent("message", { data });
            this.dispatchEvent(message);
            this.onmessage?.(message);
          };
          const script = inside.document.createElement("script");
          script.src = new URL(address, location.href).href;
          script.addEventListener("load", () => resolve(inside));
          inside.document.head.append(script);
        }, { once: true });
      });
      document.documentElement.append(this.frame);
    }

    async postMessage(data) {
      const inside = await this.ready;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
