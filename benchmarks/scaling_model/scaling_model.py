"""A compute-bound model: each rank computes its rows of a small picture, with nothing to share."""

from painting import HEIGHT, paint

from reactor_runtime import InputState, Output, ReactorPipeline, Shard, Video


class Picture(Output):
    main_video: Video


class Bands(ReactorPipeline):
    state: InputState

    def load(self, config_path):
        ends = [HEIGHT * rank // self.world_size for rank in (self.rank, self.rank + 1)]
        self.rows = slice(*ends)

    def inference(self):
        number = 0
        while True:
            number += 1
            yield Picture(main_video=Shard(paint(self.rows, number), axis="height"))
