// SPDX-License-Identifier: MIT
/*
 * The search in pages of a file system, for which browsers start no worker and fetch nothing. There the index comes as a script,
 * and the worker's script runs in a frame.
 */
"use strict";

if (location.protocol === "file:") {
	const base = document.currentScript.src.replace(/assets\/search\.js$/, "");

	document.write(`<script src="${base}search/search_index.js"></` + "script>");

	window.Worker = class FrameWorker extends EventTarget {
		constructor(url) {
			super();
			this.waiting = [];
			this.frame = document.createElement("iframe");
			this.frame.hidden = true;
			this.frame.title = "search";
			this.frame.srcdoc = "<!doctype html><title>search</title>";
			this.frame.addEventListener("load", () => this.begin(url), { once: true });
			document.body.append(this.frame);
		}

		begin(url) {
			const inside = this.frame.contentWindow;
			const script = this.frame.contentDocument.createElement("script");

			inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
			script.src = url;
			script.addEventListener("load", () => {
				this.inside = inside;
				for (const data of this.waiting)
					this.postMessage(data);
			});
			this.frame.contentDocument.body.append(script);
		}

		postMessage(data) {
			if (this.inside)
				this.inside.dispatchEvent(new MessageEvent("message", { data }));
			else
				this.waiting.push(data);
		}

		terminate() {
			this.frame.remove();
		}
	};
}
